#pragma once

#include "autograd/tangents.h"
#include "ops/promote.h"

namespace hearth::detail {

/// Returns `result`, with an additional edge to x if x requires a gradient or has a tangent. The
/// derivative along that edge is 0.
inline Tensor with_zero_derivative(const Tensor& result, const Tensor& x) {
  if (!autograd::wants_derivative(x)) return result;
  return where(wrapped_number(false), x.to(result.scalar_type()), result);
}

}  // namespace hearth::detail
