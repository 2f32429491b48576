#pragma once

#include "hearth/tensor.h"

namespace hearth {

/// The elements, their mean or their sum; `reduction` is one of Reduction's.
Tensor reduced(const Tensor& losses, int64_t reduction);

}  // namespace hearth
