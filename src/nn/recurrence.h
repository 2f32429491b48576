#pragma once

#include <functional>
#include <utility>

#include "hearth/nn/rnn.h"

namespace hearth::nn::detail {

/// What goes from one element of a sequence to the next; only LSTM has a c.
struct RNNState {
  Tensor h, c;
};

/// One element: x has been multiplied by its weights already.
using RNNStep =
    std::function<RNNState(const Tensor& x, const RNNWeights& weights, const RNNState& state)>;
using RNNWeightsOf = std::function<RNNWeights(int64_t layer, int64_t direction)>;

/// All layers and directions over the whole input; `initial` and the returned state have one entry
/// for each in dimension 0.
std::pair<Tensor, RNNState> recur(const RNNOptionsBase& options, bool training, const Tensor& input,
                                  const RNNState& initial, const RNNStep& step,
                                  const RNNWeightsOf& weights);

}  // namespace hearth::nn::detail
