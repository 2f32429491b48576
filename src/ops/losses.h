#pragma once

#include "hearth/tensor.h"

namespace hearth {

/// The losses, their mean or their sum; `reduction` is one of Reduction's values.
Tensor reduced(const Tensor& losses, int64_t reduction);

/// t where the condition holds, else 0.
Tensor only_where(const Tensor& condition, const Tensor& t);

}  // namespace hearth
