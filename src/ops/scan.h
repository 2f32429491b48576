#pragma once

#include "hearth/tensor.h"

namespace hearth {

/// The product of the elements before each one along dim (behind it, if `reverse`); 1 of none.
Tensor exclusive_cumprod(const Tensor& x, int64_t dim, bool reverse);

}  // namespace hearth
