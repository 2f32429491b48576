#pragma once

#include "hearth/tensor.h"

namespace hearth {

/// For each element, the product of the elements before it along dim (after it, if `reverse`); 1 if
/// there are none.
Tensor exclusive_cumprod(const Tensor& x, int64_t dim, bool reverse);

}  // namespace hearth
