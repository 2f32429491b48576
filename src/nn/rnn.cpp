#include "hearth/nn/rnn.h"

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

using utils::rnn::PackedSequence;
using States = std::tuple<Tensor, Tensor>;

/// Returns the outputs, packed like the input.
PackedSequence packed_as(const PackedSequence& input, const Tensor& output) {
  return PackedSequence(output, input.batch_sizes(), input.sorted_indices(),
                        input.unsorted_indices());
}

}  // namespace

RNNImpl::RNNImpl(int64_t input_size, int64_t hidden_size)
    : RNNImpl(RNNOptions(input_size, hidden_size)) {}
RNNImpl::RNNImpl(const RNNOptions& options_)
    : RNNImplBase(base_options(options_, mode_of(options_))), options(options_) {}
HEARTH_DEFINE_DEFAULT_ARGS(RNNImpl, {1, AnyValue(Tensor())})

std::tuple<Tensor, Tensor> RNNImpl::forward(const Tensor& input, Tensor hx) {
  return run_module(*this, &RNNImpl::compute, input, std::move(hx));
}

std::tuple<PackedSequence, Tensor> RNNImpl::forward_with_packed_input(
    const PackedSequence& packed_input, Tensor hx) {
  return run_module(*this, &RNNImpl::compute_packed, packed_input, std::move(hx));
}

std::tuple<Tensor, Tensor> RNNImpl::compute(const Tensor& input, const Tensor& hx) {
  const detail::RNNResult result = run(input, hx, {});
  return {result.output, result.h};
}

std::tuple<PackedSequence, Tensor> RNNImpl::compute_packed(const PackedSequence& input,
                                                           const Tensor& hx) {
  const detail::RNNResult result = run(input, hx, {});
  return {packed_as(input, result.output), result.h};
}

LSTMImpl::LSTMImpl(int64_t input_size, int64_t hidden_size)
    : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}
LSTMImpl::LSTMImpl(const LSTMOptions& options_)
    : RNNImplBase(base_options(options_, kLSTM).proj_size(options_.proj_size())),
      options(options_) {}
HEARTH_DEFINE_DEFAULT_ARGS(LSTMImpl, {1, AnyValue(std::optional<std::tuple<Tensor, Tensor>>())})

std::tuple<Tensor, States> LSTMImpl::forward(const Tensor& input, std::optional<States> hx_opt) {
  return run_module(*this, &LSTMImpl::compute, input, std::move(hx_opt));
}

std::tuple<PackedSequence, States> LSTMImpl::forward_with_packed_input(
    const PackedSequence& packed_input, std::optional<States> hx_opt) {
  return run_module(*this, &LSTMImpl::compute_packed, packed_input, std::move(hx_opt));
}

std::tuple<Tensor, States> LSTMImpl::compute(const Tensor& input, const std::optional<States>& hx) {
  const auto [h, c] = hx.value_or(States());
  const detail::RNNResult result = run(input, h, c);
  return {result.output, {result.h, result.c}};
}

std::tuple<PackedSequence, States> LSTMImpl::compute_packed(const PackedSequence& input,
                                                            const std::optional<States>& hx) {
  const auto [h, c] = hx.value_or(States());
  const detail::RNNResult result = run(input, h, c);
  return {packed_as(input, result.output), {result.h, result.c}};
}

GRUImpl::GRUImpl(int64_t input_size, int64_t hidden_size)
    : GRUImpl(GRUOptions(input_size, hidden_size)) {}
GRUImpl::GRUImpl(const GRUOptions& options_)
    : RNNImplBase(base_options(options_, kGRU)), options(options_) {}
HEARTH_DEFINE_DEFAULT_ARGS(GRUImpl, {1, AnyValue(Tensor())})

std::tuple<Tensor, Tensor> GRUImpl::forward(const Tensor& input, Tensor hx) {
  return run_module(*this, &GRUImpl::compute, input, std::move(hx));
}

std::tuple<PackedSequence, Tensor> GRUImpl::forward_with_packed_input(
    const PackedSequence& packed_input, Tensor hx) {
  return run_module(*this, &GRUImpl::compute_packed, packed_input, std::move(hx));
}

std::tuple<Tensor, Tensor> GRUImpl::compute(const Tensor& input, const Tensor& hx) {
  const detail::RNNResult result = run(input, hx, {});
  return {result.output, result.h};
}

std::tuple<PackedSequence, Tensor> GRUImpl::compute_packed(const PackedSequence& input,
                                                           const Tensor& hx) {
  const detail::RNNResult result = run(input, hx, {});
  return {packed_as(input, result.output), result.h};
}

}  // namespace hearth::nn
