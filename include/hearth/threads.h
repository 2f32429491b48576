#pragma once

#include "hearth/export.h"

namespace hearth {

/// How many threads a parallel loop started here would use: 1 inside another one and in threads
/// that are themselves one of many (loader workers, streams).
HEARTH_API int get_num_threads();
/// Sets the number for the whole process; the default is OpenMP's (OMP_NUM_THREADS, else all
/// cores).
HEARTH_API void set_num_threads(int count);

/// PyTorch's second pool does not exist here: the number is only remembered.
HEARTH_API int get_num_interop_threads();
HEARTH_API void set_num_interop_threads(int count);

}  // namespace hearth
