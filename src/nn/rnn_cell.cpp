#include "hearth/nn/rnn_cell.h"

#include <cmath>
#include <ostream>

#include "hearth/nn/init.h"
#include "hearth/nn/run_module.h"
#include "hearth/operators.h"

namespace hearth::nn {

namespace detail {

template <class Derived>
RNNCellImplBase<Derived>::RNNCellImplBase(const RNNCellOptionsBase& options_)
    : options_base(options_) {
  RNNCellImplBase::reset();
}

template <class Derived>
void RNNCellImplBase<Derived>::reset() {
  const int64_t hidden = options_base.hidden_size(), rows = options_base.num_chunks() * hidden;
  weight_ih = this->register_parameter("weight_ih", empty({rows, options_base.input_size()}));
  weight_hh = this->register_parameter("weight_hh", empty({rows, hidden}));
  const auto bias = [&] { return options_base.bias() ? empty(rows) : Tensor(); };
  bias_ih = this->register_parameter("bias_ih", bias(), options_base.bias());
  bias_hh = this->register_parameter("bias_hh", bias(), options_base.bias());
  reset_parameters();
}

template <class Derived>
void RNNCellImplBase<Derived>::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(options_base.hidden_size()));
  for (const Tensor& weight : this->parameters()) init::uniform_(weight, -bound, bound);
}

template <class Derived>
void RNNCellImplBase<Derived>::pretty_print(std::ostream& stream) const {
  const int64_t gates = options_base.num_chunks();
  stream << (gates == 4   ? "LSTMCell("
             : gates == 3 ? "GRUCell("
                          : "RNNCell(")
         << options_base.input_size() << ", " << options_base.hidden_size();
  if (!options_base.bias()) stream << ", bias=false";
  const std::string nonlinearity = get_nonlinearity_str();
  if (!nonlinearity.empty() && nonlinearity != "kTanh") stream << ", nonlinearity=" << nonlinearity;
  stream << ')';
}

template <class Derived>
void RNNCellImplBase<Derived>::check_forward_input(const Tensor& input,
                                                   const std::string& name) const {
  HEARTH_CHECK(input.dim() == 1 || input.dim() == 2, "Expected ", name, " to be 1D or 2D, got ",
               input.dim(), "D instead");
}

template <class Derived>
Tensor RNNCellImplBase<Derived>::batched_state(const Tensor& state, const std::string& name,
                                               const Tensor& input) const {
  if (!state.defined())
    return zeros({input.dim() == 1 ? 1 : input.size(0), options_base.hidden_size()},
                 input.options());
  check_forward_input(state, name);
  return input.dim() == 1 ? state.unsqueeze(0) : state;
}

template class RNNCellImplBase<RNNCellImpl>;
template class RNNCellImplBase<LSTMCellImpl>;
template class RNNCellImplBase<GRUCellImpl>;

}  // namespace detail

namespace {

Tensor batched(const Tensor& input) { return input.dim() == 1 ? input.unsqueeze(0) : input; }
/// Returns a batched result, without the batch dimension if the input has none.
Tensor like_input(const Tensor& result, const Tensor& input) {
  return input.dim() == 1 ? result.squeeze(0) : result;
}
template <class Options>
detail::RNNCellOptionsBase base_options(const Options& o, int64_t gates) {
  return {o.input_size(), o.hidden_size(), o.bias(), gates};
}

}  // namespace

RNNCellImpl::RNNCellImpl(int64_t input_size, int64_t hidden_size)
    : RNNCellImpl(RNNCellOptions(input_size, hidden_size)) {}
RNNCellImpl::RNNCellImpl(const RNNCellOptions& options_)
    : RNNCellImplBase(base_options(options_, 1)), options(options_) {}
HEARTH_DEFINE_DEFAULT_ARGS(RNNCellImpl, {1, AnyValue(Tensor())})

Tensor RNNCellImpl::forward(const Tensor& input, const Tensor& hx) {
  return run_module(*this, &RNNCellImpl::compute, input, hx);
}

Tensor RNNCellImpl::compute(const Tensor& input, const Tensor& hx) {
  check_forward_input(input, "input");
  const Tensor state = batched_state(hx, "hidden", input);
  const auto step = std::holds_alternative<enumtype::kTanh>(options.nonlinearity()) ? rnn_tanh_cell
                                                                                    : rnn_relu_cell;
  return like_input(step(batched(input), state, weight_ih, weight_hh, bias_ih, bias_hh), input);
}

std::string RNNCellImpl::get_nonlinearity_str() const {
  return std::holds_alternative<enumtype::kTanh>(options.nonlinearity()) ? "kTanh" : "kReLU";
}

LSTMCellImpl::LSTMCellImpl(int64_t input_size, int64_t hidden_size)
    : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size)) {}
LSTMCellImpl::LSTMCellImpl(const LSTMCellOptions& options_)
    : RNNCellImplBase(base_options(options_, 4)), options(options_) {}
HEARTH_DEFINE_DEFAULT_ARGS(LSTMCellImpl, {1, AnyValue(std::optional<std::tuple<Tensor, Tensor>>())})

std::tuple<Tensor, Tensor> LSTMCellImpl::forward(const Tensor& input,
                                                 std::optional<std::tuple<Tensor, Tensor>> hx_opt) {
  return run_module(*this, &LSTMCellImpl::compute, input, std::move(hx_opt));
}

std::tuple<Tensor, Tensor> LSTMCellImpl::compute(
    const Tensor& input, const std::optional<std::tuple<Tensor, Tensor>>& hx) {
  check_forward_input(input, "input");
  const auto [h, c] = hx.value_or(std::tuple<Tensor, Tensor>());
  const Tensor states[] = {batched_state(h, "hx[0]", input), batched_state(c, "hx[1]", input)};
  const auto [next_h, next_c] =
      lstm_cell(batched(input), states, weight_ih, weight_hh, bias_ih, bias_hh);
  return {like_input(next_h, input), like_input(next_c, input)};
}

GRUCellImpl::GRUCellImpl(int64_t input_size, int64_t hidden_size)
    : GRUCellImpl(GRUCellOptions(input_size, hidden_size)) {}
GRUCellImpl::GRUCellImpl(const GRUCellOptions& options_)
    : RNNCellImplBase(base_options(options_, 3)), options(options_) {}
HEARTH_DEFINE_DEFAULT_ARGS(GRUCellImpl, {1, AnyValue(Tensor())})

Tensor GRUCellImpl::forward(const Tensor& input, const Tensor& hx) {
  return run_module(*this, &GRUCellImpl::compute, input, hx);
}

Tensor GRUCellImpl::compute(const Tensor& input, const Tensor& hx) {
  check_forward_input(input, "input");
  const Tensor state = batched_state(hx, "hidden", input);
  return like_input(gru_cell(batched(input), state, weight_ih, weight_hh, bias_ih, bias_hh), input);
}

}  // namespace hearth::nn
