#pragma once

#include <cstdint>
#include <set>

#include "hearth/nn/data_parallel.h"

namespace hearth::nn::detail {

/// The sizes of a module's parameters.
struct ParameterSizes {
  explicit ParameterSizes(const Module& module);
  int64_t count = 0, elements = 0;
  int64_t convolved = 0;     // the elements that belong to convolutions
  std::set<int64_t> widths;  // the numbers of features that the other layers take
};

/// How often a call applies each parameter, on average. Convolutions count with an upper limit: all
/// elements of the largest argument. Other layers count with the argument's positions: its elements
/// divided by the features, which are in a dimension of a width that one of the layers takes. An
/// argument without such a dimension has one position in each row.
int64_t uses_of(const ParameterSizes& parameters, const BatchSize& batch);

}  // namespace hearth::nn::detail
