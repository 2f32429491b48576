#pragma once

#include "core/modes.h"
#include "ops/promote.h"

namespace hearth::detail {

/// Returns `result` with an additional edge to x, whose gradient is 0, if x requires one.
inline Tensor with_zero_derivative(const Tensor& result, const Tensor& x) {
  if (!modes.grad_enabled || !x.requires_grad()) return result;
  return where(wrapped_number(false), x.to(result.scalar_type()), result);
}

}  // namespace hearth::detail
