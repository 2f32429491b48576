#pragma once

#include <vector>

#include "hearth/tensor.h"

namespace hearth {

/// The values of the batch_sizes of packed data, which must be an int64 vector on the CPU, not
/// empty, of numbers that never increase and are not negative.
std::vector<int64_t> packed_sizes(const Tensor& batch_sizes);

}  // namespace hearth
