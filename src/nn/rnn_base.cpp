// The common part of RNN, LSTM and GRU: weights, checks, printing, the call of the operator.
#include <cmath>
#include <ostream>

#include "hearth/nn/init.h"
#include "hearth/nn/rnn.h"
#include "hearth/operators.h"
#include "nn/spaced.h"

namespace hearth::nn::detail {

using hearth::detail::str;

namespace {

int64_t num_gates(const RNNOptionsBase& options) {
  if (std::holds_alternative<enumtype::kLSTM>(options.mode())) return 4;
  return std::holds_alternative<enumtype::kGRU>(options.mode()) ? 3 : 1;
}

const char* class_of(const RNNOptionsBase& options) {
  const int64_t count = num_gates(options);
  return count == 4 ? "LSTM" : count == 3 ? "GRU" : "RNN";
}

std::string suffix(int64_t layer, int64_t direction) {
  return str("_l", layer, direction == 1 ? "_reverse" : "");
}

void check_options(const RNNOptionsBase& options) {
  HEARTH_CHECK(options.dropout() >= 0 && options.dropout() <= 1,
               "dropout should be a number in range [0, 1] representing the probability of an "
               "element being zeroed");
  HEARTH_CHECK(options.input_size() > 0, "input_size must be greater than zero");
  HEARTH_CHECK(options.hidden_size() > 0, "hidden_size must be greater than zero");
  HEARTH_CHECK(options.num_layers() > 0, "num_layers must be greater than zero");
  HEARTH_CHECK(options.proj_size() >= 0 && options.proj_size() < options.hidden_size(),
               "proj_size has to be a positive integer, smaller than hidden_size or zero to "
               "disable projections");
  if (options.dropout() > 0 && options.num_layers() == 1)
    warn(
        str("dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            "expects num_layers greater than 1, but got dropout=",
            options.dropout(), " and num_layers=", options.num_layers()));
}

}  // namespace

RNNOptionsBase::RNNOptionsBase(rnn_options_base_mode_t mode, int64_t input_size,
                               int64_t hidden_size)
    : mode_(mode), input_size_(input_size), hidden_size_(hidden_size) {}

template <class Derived>
RNNImplBase<Derived>::RNNImplBase(const RNNOptionsBase& options_) : options_base(options_) {
  check_options(options_base);
  RNNImplBase::reset();
}

template <class Derived>
void RNNImplBase<Derived>::reset() {
  const int64_t hidden = options_base.hidden_size(), rows = num_gates(options_base) * hidden;
  for (int64_t layer = 0; layer < options_base.num_layers(); ++layer) {
    const int64_t width = layer == 0 ? options_base.input_size() : state_size() * directions();
    for (int64_t direction = 0; direction < directions(); ++direction) {
      const std::string name_suffix = suffix(layer, direction);
      this->register_parameter("weight_ih" + name_suffix, empty({rows, width}));
      this->register_parameter("weight_hh" + name_suffix, empty({rows, state_size()}));
      if (options_base.bias()) {
        this->register_parameter("bias_ih" + name_suffix, empty(rows));
        this->register_parameter("bias_hh" + name_suffix, empty(rows));
      }
      if (options_base.proj_size() > 0)
        this->register_parameter("weight_hr" + name_suffix, empty({state_size(), hidden}));
    }
  }
  reset_parameters();
}

template <class Derived>
void RNNImplBase<Derived>::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(options_base.hidden_size()));
  for (const Tensor& weight : all_weights()) init::uniform_(weight, -bound, bound);
}

template <class Derived>
void RNNImplBase<Derived>::pretty_print(std::ostream& stream) const {
  const auto bool_text = [](bool value) { return value ? "true" : "false"; };
  stream << class_of(options_base) << "(input_size=" << options_base.input_size()
         << ", hidden_size=" << options_base.hidden_size()
         << ", num_layers=" << options_base.num_layers()
         << ", bias=" << bool_text(options_base.bias())
         << ", batch_first=" << bool_text(options_base.batch_first())
         << ", dropout=" << options_base.dropout()
         << ", bidirectional=" << bool_text(options_base.bidirectional());
  if (options_base.proj_size() > 0) stream << ", proj_size=" << options_base.proj_size();
  stream << ')';
}

template <class Derived>
int64_t RNNImplBase<Derived>::state_size() const {
  return options_base.proj_size() > 0 ? options_base.proj_size() : options_base.hidden_size();
}

template <class Derived>
bool RNNImplBase<Derived>::has_cell() const {
  return std::holds_alternative<enumtype::kLSTM>(options_base.mode());
}

template <class Derived>
void RNNImplBase<Derived>::check_input(const Tensor& input, int64_t dims) const {
  HEARTH_CHECK(input.dim() == dims, "input must have ", dims, " dimensions, got ", input.dim());
  HEARTH_CHECK(input.size(-1) == options_base.input_size(),
               "input.size(-1) must be equal to input_size. Expected ", options_base.input_size(),
               ", got ", input.size(-1));
}

/// Replaces undefined states by zeros, and checks the sizes.
template <class Derived>
void RNNImplBase<Derived>::complete_states(const Tensor& input, int64_t batch, Tensor& h,
                                           Tensor& c) const {
  const auto complete = [&](Tensor& state, int64_t width, const char* text) {
    const std::vector<int64_t> expected{options_base.num_layers() * directions(), batch, width};
    if (!state.defined()) state = zeros(expected, input.options());
    HEARTH_CHECK(state.sizes() == expected, text, spaced(expected), ", got ", state.sizes());
  };
  if (!has_cell()) return complete(h, state_size(), "Expected hidden size ");
  complete(h, state_size(), "Expected hidden[0] size ");
  complete(c, options_base.hidden_size(), "Expected hidden[1] size ");
}

template <class Derived>
RNNResult RNNImplBase<Derived>::run_batch(const Tensor& input, const Tensor& batch_sizes,
                                          const Tensor& h, const Tensor& c) const {
  const RNNOptionsBase& o = options_base;
  const std::vector<Tensor> weights = all_weights();
  const auto call = [&](const auto& net, const auto& states) {
    return batch_sizes.defined()
               ? net(input, batch_sizes, states, weights, o.bias(), o.num_layers(), o.dropout(),
                     this->is_training(), o.bidirectional())
               : net(input, states, weights, o.bias(), o.num_layers(), o.dropout(),
                     this->is_training(), o.bidirectional(), o.batch_first());
  };
  const auto without_cell = [&](const auto& net) -> RNNResult {
    auto [output, last] = call(net, h);
    return {output, last, {}};
  };
  if (std::holds_alternative<enumtype::kGRU>(o.mode()))
    return without_cell([](const auto&... a) { return gru(a...); });
  if (std::holds_alternative<enumtype::kRNN_TANH>(o.mode()))
    return without_cell([](const auto&... a) { return rnn_tanh(a...); });
  if (std::holds_alternative<enumtype::kRNN_RELU>(o.mode()))
    return without_cell([](const auto&... a) { return rnn_relu(a...); });
  const Tensor states[] = {h, c};
  auto [output, last_h, last_c] =
      call([](const auto&... a) { return lstm(a...); }, TensorList(states));
  return {output, last_h, last_c};
}

namespace {

void check_unbatched_states(bool has_cell, const Tensor& h, const Tensor& c) {
  if (!has_cell)
    HEARTH_CHECK(!h.defined() || h.dim() == 2,
                 "For unbatched 2-D input, hx should also be 2-D but got ", h.dim(), "-D tensor");
  else
    HEARTH_CHECK((!h.defined() || h.dim() == 2) && (!c.defined() || c.dim() == 2),
                 "For unbatched 2-D input, hx and cx should also be 2-D but got (",
                 h.defined() ? h.dim() : 2, "-D, ", c.defined() ? c.dim() : 2, "-D) tensors");
}

}  // namespace

template <class Derived>
RNNResult RNNImplBase<Derived>::run(const Tensor& input, const Tensor& hx, const Tensor& cx) const {
  const auto if_defined = [](const Tensor& t, auto change) { return t.defined() ? change(t) : t; };
  const int64_t batch_dim = options_base.batch_first() ? 0 : 1;
  const bool is_unbatched = input.dim() == 2;
  const auto with_batch = [](const Tensor& t) { return t.unsqueeze(1); };
  if (is_unbatched) check_unbatched_states(has_cell(), hx, cx);
  const Tensor x = is_unbatched ? input.unsqueeze(batch_dim) : input;
  Tensor h = is_unbatched ? if_defined(hx, with_batch) : hx,
         c = is_unbatched ? if_defined(cx, with_batch) : cx;
  check_input(x, 3);
  complete_states(x, x.size(batch_dim), h, c);
  RNNResult result = run_batch(x, {}, h, c);
  if (!is_unbatched) return result;
  const auto without_batch = [](const Tensor& t) { return t.squeeze(1); };
  return {result.output.squeeze(batch_dim), without_batch(result.h),
          if_defined(result.c, without_batch)};
}

template <class Derived>
RNNResult RNNImplBase<Derived>::run(const utils::rnn::PackedSequence& input, Tensor h,
                                    Tensor c) const {
  check_input(input.data(), 2);
  const auto reorder = [](Tensor& state, const Tensor& order) {
    if (state.defined() && order.defined()) state = state.index_select(1, order);
  };
  reorder(h, input.sorted_indices());
  reorder(c, input.sorted_indices());
  complete_states(input.data(), input.batch_sizes()[0].template item<int64_t>(), h, c);
  RNNResult result = run_batch(input.data(), input.batch_sizes(), h, c);
  reorder(result.h, input.unsorted_indices());
  reorder(result.c, input.unsorted_indices());
  return result;
}

template class RNNImplBase<RNNImpl>;
template class RNNImplBase<LSTMImpl>;
template class RNNImplBase<GRUImpl>;

}  // namespace hearth::nn::detail
