#pragma once

#include "hearth/tensor.h"

namespace hearth {

/// The distances [batch…, rows of a, rows of b] by differentiable ops, for devices without a
/// kernel for them.
Tensor cdist_composed(const Tensor& a, const Tensor& b, double p);

}  // namespace hearth
