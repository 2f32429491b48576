#pragma once

#include <cstdint>
#include <set>

#include "hearth/nn/data_parallel.h"

namespace hearth::nn::detail {

/// The sizes of a module's parameters.
struct ParameterSizes {
  explicit ParameterSizes(const Module& module);
  int64_t count = 0, elements = 0;
  // Elements of convolutions' parameters, and of other parameters with over three dimensions.
  int64_t convolved = 0;
  // The last sizes of the other parameters with two or three dimensions: mostly, the numbers of
  // features that a layer takes.
  std::set<int64_t> widths;
};

/// How often a call applies each element of the parameters, on average. For convolutions, this is
/// an upper limit: the number of elements of the largest argument. For other layers, it is the
/// largest number of positions in an argument. In an argument of integers, each element is a
/// position. In other arguments, the last dimension whose size is in `widths` has the features of a
/// position; an argument without such a dimension has one position in each row.
int64_t uses_of(const ParameterSizes& parameters, const BatchSize& batch);

}  // namespace hearth::nn::detail
