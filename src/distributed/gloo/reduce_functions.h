#pragma once

#include <cstddef>

#include "hearth/distributed/types.h"

namespace hearth::distributed {

/// out[i] = a[i] op b[i] for n elements.
using ReduceFunction = void (*)(void* out, const void* a, const void* b, size_t n);

/// The function of an operation for a dtype; null if there is none.
ReduceFunction reduce_function(ReduceOp op, ScalarType dtype);

}  // namespace hearth::distributed
