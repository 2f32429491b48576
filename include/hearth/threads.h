#pragma once

#include "hearth/export.h"

namespace hearth {

/// The number of threads of a parallel loop started by this thread: 1 inside another parallel loop,
/// under a SerialGuard, in a data loader's workers, and in an OpenMP region of the program.
HEARTH_API int get_num_threads();
/// Sets the number for the whole process; the default is OMP_NUM_THREADS or all cores.
HEARTH_API void set_num_threads(int count);

/// Whether this thread runs a part of a parallel loop that several threads share.
HEARTH_API bool in_parallel_region();
/// The number of this thread in its parallel loop, below the loop's number of threads; otherwise 0.
HEARTH_API int get_thread_num();

/// The number given to set_num_interop_threads, by default OMP_NUM_THREADS or all cores. It has no
/// effect on ops, because they run on the calling thread.
HEARTH_API int get_num_interop_threads();
HEARTH_API void set_num_interop_threads(int count);  ///< changes only that number

}  // namespace hearth
