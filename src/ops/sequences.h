#pragma once

#include <vector>

#include "hearth/tensor.h"

namespace hearth {

/// The values of packed data's batch_sizes: a vector of int64 on the CPU, which must not rise.
std::vector<int64_t> packed_sizes(const Tensor& batch_sizes);

}  // namespace hearth
