#include "hearth/nn/rnn.h"

#include "hearth/operators.h"
#include "nn/recurrence.h"

namespace hearth::nn {

namespace {

/// Converts the options that all recurrent modules share.
template <class Options>
detail::RNNOptionsBase base_options(const Options& o,
                                    detail::RNNOptionsBase::rnn_options_base_mode_t mode) {
  return detail::RNNOptionsBase(mode, o.input_size(), o.hidden_size())
      .num_layers(o.num_layers())
      .bias(o.bias())
      .batch_first(o.batch_first())
      .dropout(o.dropout())
      .bidirectional(o.bidirectional());
}

detail::RNNOptionsBase::rnn_options_base_mode_t mode_of(const RNNOptions& options) {
  if (std::holds_alternative<enumtype::kTanh>(options.nonlinearity())) return kRNN_TANH;
  return kRNN_RELU;
}

constexpr const char* kHiddenText = "Expected hidden size ";

}  // namespace

RNNImpl::RNNImpl(int64_t input_size, int64_t hidden_size)
    : RNNImpl(RNNOptions(input_size, hidden_size)) {}
RNNImpl::RNNImpl(const RNNOptions& options_)
    : RNNImplBase(base_options(options_, mode_of(options_))), options(options_) {}
HEARTH_DEFINE_DEFAULT_ARGS(RNNImpl, {1, AnyValue(Tensor())})

std::tuple<Tensor, Tensor> RNNImpl::forward(const Tensor& input, Tensor hx) {
  return run_module(*this, &RNNImpl::compute, input, std::move(hx));
}

std::tuple<Tensor, Tensor> RNNImpl::compute(const Tensor& input, const Tensor& hx) {
  check_input(input);
  const bool is_tanh = std::holds_alternative<enumtype::kTanh>(options.nonlinearity());
  const auto step = [is_tanh](const Tensor& x, const detail::RNNWeights& w,
                              const detail::RNNState& state) -> detail::RNNState {
    const Tensor sum = x + linear(state.h, w.w_hh, w.b_hh);
    return {is_tanh ? sum.tanh() : sum.relu(), {}};
  };
  const auto [output, last] = detail::recur(
      options_base, is_training(), input, {checked_hidden(input, hx, kHiddenText), {}}, step,
      [this](int64_t layer, int64_t direction) { return weights(layer, direction); });
  return {output, last.h};
}

LSTMImpl::LSTMImpl(int64_t input_size, int64_t hidden_size)
    : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}
LSTMImpl::LSTMImpl(const LSTMOptions& options_)
    : RNNImplBase(base_options(options_, kLSTM)), options(options_) {}
HEARTH_DEFINE_DEFAULT_ARGS(LSTMImpl, {1, AnyValue(std::optional<std::tuple<Tensor, Tensor>>())})

std::tuple<Tensor, std::tuple<Tensor, Tensor>> LSTMImpl::forward(
    const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt) {
  return run_module(*this, &LSTMImpl::compute, input, std::move(hx_opt));
}

std::tuple<Tensor, std::tuple<Tensor, Tensor>> LSTMImpl::compute(
    const Tensor& input, const std::optional<std::tuple<Tensor, Tensor>>& hx) {
  check_input(input);
  const auto [h, c] = hx.value_or(std::tuple<Tensor, Tensor>());
  const auto step = [](const Tensor& x, const detail::RNNWeights& w,
                       const detail::RNNState& state) -> detail::RNNState {
    const auto gates = (x + linear(state.h, w.w_hh, w.b_hh)).chunk(4, 1);
    const Tensor cell = gates[1].sigmoid() * state.c + gates[0].sigmoid() * gates[2].tanh();
    return {gates[3].sigmoid() * cell.tanh(), cell};
  };
  const auto [output, last] = detail::recur(
      options_base, is_training(), input,
      {checked_hidden(input, h, "Expected hidden[0] size "),
       checked_hidden(input, c, "Expected hidden[1] size ")},
      step, [this](int64_t layer, int64_t direction) { return weights(layer, direction); });
  return {output, {last.h, last.c}};
}

GRUImpl::GRUImpl(int64_t input_size, int64_t hidden_size)
    : GRUImpl(GRUOptions(input_size, hidden_size)) {}
GRUImpl::GRUImpl(const GRUOptions& options_)
    : RNNImplBase(base_options(options_, kGRU)), options(options_) {}
HEARTH_DEFINE_DEFAULT_ARGS(GRUImpl, {1, AnyValue(Tensor())})

std::tuple<Tensor, Tensor> GRUImpl::forward(const Tensor& input, Tensor hx) {
  return run_module(*this, &GRUImpl::compute, input, std::move(hx));
}

std::tuple<Tensor, Tensor> GRUImpl::compute(const Tensor& input, const Tensor& hx) {
  check_input(input);
  const auto step = [](const Tensor& x, const detail::RNNWeights& w,
                       const detail::RNNState& state) -> detail::RNNState {
    const auto from_x = x.chunk(3, 1);
    const auto from_h = linear(state.h, w.w_hh, w.b_hh).chunk(3, 1);
    const Tensor reset = (from_x[0] + from_h[0]).sigmoid();
    const Tensor update = (from_x[1] + from_h[1]).sigmoid();
    const Tensor fresh = (from_x[2] + reset * from_h[2]).tanh();
    return {fresh + update * (state.h - fresh), {}};
  };
  const auto [output, last] = detail::recur(
      options_base, is_training(), input, {checked_hidden(input, hx, kHiddenText), {}}, step,
      [this](int64_t layer, int64_t direction) { return weights(layer, direction); });
  return {output, last.h};
}

}  // namespace hearth::nn
