#pragma once

#include "hearth/export.h"

namespace hearth {

/// How many threads a parallel loop started here would use: 1 inside another one, in a loader's
/// workers, and in a parallel region of the program's own OpenMP.
HEARTH_API int get_num_threads();
/// Sets the number for the whole process; the default is OMP_NUM_THREADS, else all
/// cores.
HEARTH_API void set_num_threads(int count);

/// PyTorch's second pool does not exist here: the number is only remembered.
HEARTH_API int get_num_interop_threads();
HEARTH_API void set_num_interop_threads(int count);

}  // namespace hearth
