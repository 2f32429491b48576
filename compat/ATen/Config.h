#pragma once

// The libraries that the build uses. Hearth's own use of them is not visible to programs.
#define AT_MKLDNN_ENABLED() 0
#define AT_MKL_ENABLED() 0
#define AT_MKL_SEQUENTIAL() 0
#define AT_PARALLEL_OPENMP 0
#define AT_PARALLEL_NATIVE 1
