// The common part of RNN, LSTM and GRU: weights, checks, printing.
#include <cmath>
#include <ostream>

#include "hearth/nn/init.h"
#include "hearth/nn/rnn.h"

namespace hearth::nn::detail {

using hearth::detail::str;

namespace {

int64_t gates(const RNNOptionsBase& options) {
  if (std::holds_alternative<enumtype::kLSTM>(options.mode())) return 4;
  return std::holds_alternative<enumtype::kGRU>(options.mode()) ? 3 : 1;
}

const char* class_of(const RNNOptionsBase& options) {
  const int64_t count = gates(options);
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
  if (options.dropout() > 0 && options.num_layers() == 1)
    warn(
        str("dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            "expects num_layers greater than 1, but got dropout=",
            options.dropout(), " and num_layers=", options.num_layers()));
}

}  // namespace

template <class Derived>
RNNImplBase<Derived>::RNNImplBase(const RNNOptionsBase& options_) : options_base(options_) {
  check_options(options_base);
  RNNImplBase::reset();
}

template <class Derived>
void RNNImplBase<Derived>::reset() {
  const int64_t hidden = options_base.hidden_size(), rows = gates(options_base) * hidden;
  for (int64_t layer = 0; layer < options_base.num_layers(); ++layer) {
    const int64_t width = layer == 0 ? options_base.input_size() : hidden * directions();
    for (int64_t direction = 0; direction < directions(); ++direction) {
      const std::string end = suffix(layer, direction);
      this->register_parameter("weight_ih" + end, empty({rows, width}));
      this->register_parameter("weight_hh" + end, empty({rows, hidden}));
      if (!options_base.bias()) continue;
      this->register_parameter("bias_ih" + end, empty(rows));
      this->register_parameter("bias_hh" + end, empty(rows));
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
  stream << class_of(options_base) << "(input_size=" << options_base.input_size()
         << ", hidden_size=" << options_base.hidden_size();
  if (options_base.num_layers() != 1) stream << ", num_layers=" << options_base.num_layers();
  if (!options_base.bias()) stream << ", bias=false";
  if (options_base.batch_first()) stream << ", batch_first=true";
  if (options_base.dropout() != 0) stream << ", dropout=" << options_base.dropout();
  if (options_base.bidirectional()) stream << ", bidirectional=true";
  stream << ')';
}

template <class Derived>
void RNNImplBase<Derived>::check_input(const Tensor& input) const {
  HEARTH_CHECK(input.dim() == 3, "input must have 3 dimensions, got ", input.dim());
  HEARTH_CHECK(input.size(-1) == options_base.input_size(),
               "input.size(-1) must be equal to input_size. Expected ", options_base.input_size(),
               ", got ", input.size(-1));
  HEARTH_CHECK(input.size(options_base.batch_first() ? 1 : 0) > 0,
               "Expected sequence length to be larger than 0 in RNN");
}

template <class Derived>
Tensor RNNImplBase<Derived>::checked_hidden(const Tensor& input, const Tensor& hx,
                                            const std::string& text) const {
  const std::vector<int64_t> expected{options_base.num_layers() * directions(),
                                      input.size(options_base.batch_first() ? 0 : 1),
                                      options_base.hidden_size()};
  if (!hx.defined()) return zeros(expected, input.options());
  HEARTH_CHECK(hx.sizes() == expected, text, IntArrayRef(expected), ", got ", hx.sizes());
  return hx;
}

template <class Derived>
RNNWeights RNNImplBase<Derived>::weights(int64_t layer, int64_t direction) const {
  const std::string end = suffix(layer, direction);
  const bool bias = options_base.bias();
  return {this->parameters_["weight_ih" + end], this->parameters_["weight_hh" + end],
          bias ? this->parameters_["bias_ih" + end] : Tensor(),
          bias ? this->parameters_["bias_hh" + end] : Tensor()};
}

template class RNNImplBase<RNNImpl>;
template class RNNImplBase<LSTMImpl>;
template class RNNImplBase<GRUImpl>;

}  // namespace hearth::nn::detail
