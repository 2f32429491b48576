#pragma once

#include "hearth/dtype.h"

/// X(type, Name) for each dtype for which kernels are instantiated: all of them, or, in a build
/// that only checks that kernels compile, one of each kind (docs/gpu.md).
#ifdef HEARTH_CUDA_COMPILE_ONLY
#define HEARTH_CUDA_DTYPES(X) \
  X(int64_t, Long)            \
  X(::hearth::Half, Half)     \
  X(float, Float)             \
  X(bool, Bool)
#else
#define HEARTH_CUDA_DTYPES(X) HEARTH_DTYPES(X)
#endif
