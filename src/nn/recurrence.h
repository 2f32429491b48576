#pragma once

#include <functional>
#include <utility>

#include "hearth/nn/rnn.h"

namespace hearth::nn::detail {

/// The recurrent state between two elements of a sequence; only LSTM has a c.
struct RNNState {
  Tensor h, c;
};

/// Computes the next state from one element; x is W_ih times the element plus b_ih.
using RNNStep =
    std::function<RNNState(const Tensor& x, const RNNWeights& weights, const RNNState& state)>;
using RNNWeightsOf = std::function<RNNWeights(int64_t layer, int64_t direction)>;

/// Runs all layers and directions over the input; returns the outputs and the last state. Dimension
/// 0 of the states is layer * directions + direction.
std::pair<Tensor, RNNState> recur(const RNNOptionsBase& options, bool training, const Tensor& input,
                                  const RNNState& initial, const RNNStep& step,
                                  const RNNWeightsOf& weights);

}  // namespace hearth::nn::detail
