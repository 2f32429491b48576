#include "nn/recurrence.h"

namespace hearth::nn::detail {

namespace {

RNNState state_of(const RNNState& states, int64_t index) {
  return {states.h.select(0, index), states.c.defined() ? states.c.select(0, index) : Tensor()};
}

/// Runs one layer in one direction; returns the outputs, [L, N, H], and the last state.
std::pair<Tensor, RNNState> run_layer(const Tensor& input, const RNNWeights& weights,
                                      RNNState state, const RNNStep& step, bool backwards) {
  const std::vector<Tensor> elements = linear(input, weights.w_ih, weights.b_ih).unbind(0);
  const size_t length = elements.size();
  std::vector<Tensor> outputs(length);
  for (size_t i = 0; i < length; ++i) {
    const size_t position = backwards ? length - 1 - i : i;
    state = step(elements[position], weights, state);
    outputs[position] = state.h;
  }
  return {stack(outputs), std::move(state)};
}

}  // namespace

std::pair<Tensor, RNNState> recur(const RNNOptionsBase& options, bool training, const Tensor& input,
                                  const RNNState& initial, const RNNStep& step,
                                  const RNNWeightsOf& weights) {
  Tensor x = options.batch_first() ? input.transpose(0, 1) : input;
  const int64_t directions = options.bidirectional() ? 2 : 1;
  std::vector<Tensor> h, c;
  for (int64_t layer = 0; layer < options.num_layers(); ++layer) {
    if (layer > 0 && options.dropout() > 0) x = dropout(x, options.dropout(), training);
    std::vector<Tensor> outputs;
    for (int64_t direction = 0; direction < directions; ++direction) {
      auto [output, last] =
          run_layer(x, weights(layer, direction), state_of(initial, layer * directions + direction),
                    step, direction == 1);
      outputs.push_back(std::move(output));
      h.push_back(last.h);
      if (last.c.defined()) c.push_back(last.c);
    }
    x = directions == 1 ? outputs[0] : cat(outputs, -1);
  }
  if (options.batch_first()) x = x.transpose(0, 1);
  return {x, {stack(h), c.empty() ? Tensor() : stack(c)}};
}

}  // namespace hearth::nn::detail
