#pragma once

#include <cstdint>
#include <set>

#include "hearth/nn/data_parallel.h"

namespace hearth::nn::detail {

/// The sizes of a module's parameters.
struct ParameterSizes {
  explicit ParameterSizes(const Module& module);
  int64_t count = 0, elements = 0;
  int64_t convolved = 0;  // elements of convolutions, and of others with over three dimensions
  // The last sizes of the other parameters with two or three dimensions: mostly, the numbers of
  // features that a layer takes.
  std::set<int64_t> widths;
};

/// How often a call applies each parameter, on average. Convolutions count with an upper limit: all
/// elements of the largest argument. Other layers count with the argument's positions: its elements
/// divided by the features, which are in a dimension of a width that one of the layers takes. An
/// argument without such a dimension has one position in each row.
int64_t uses_of(const ParameterSizes& parameters, const BatchSize& batch);

}  // namespace hearth::nn::detail
