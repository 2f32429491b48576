#pragma once

#include "core/modes.h"
#include "ops/promote.h"

namespace hearth::detail {

/// Returns `result`, with an additional edge to x if x requires a gradient. The gradient along that
/// edge is 0.
inline Tensor with_zero_derivative(const Tensor& result, const Tensor& x) {
  if (!modes.records() || !x.requires_grad()) return result;
  return where(wrapped_number(false), x.to(result.scalar_type()), result);
}

}  // namespace hearth::detail
