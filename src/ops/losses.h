#pragma once

#include "hearth/tensor.h"

namespace hearth {

/// What a loss makes of its elements' values; `reduction` is one of Reduction's.
Tensor reduced(const Tensor& losses, int64_t reduction);

}  // namespace hearth
