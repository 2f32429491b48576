#pragma once

#include "hearth/dtype.h"
#include "hearth/error.h"

namespace hearth::cuda {

/// Calls f(T()) with the type of a floating dtype; throws an Error that names `op` for others.
template <class F>
void with_floating(const char* op, ScalarType dtype, F f) {
  switch (dtype) {
    case kFloat: return f(float{});
    case kDouble: return f(double{});
    case kHalf: return f(Half{});
    case kBFloat16: return f(BFloat16{});
    default: detail::fail<Error>("\"", op, "\" not implemented for '", name_of(dtype), "'");
  }
}

}  // namespace hearth::cuda
