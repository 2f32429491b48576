#include "hearth/nn/activation.h"

#include <ostream>

namespace hearth::nn {

using hearth::detail::str;

namespace functional {

Tensor relu(Tensor input, const ReLUFuncOptions& options) {
  return options.inplace() ? hearth::relu_(input) : hearth::relu(input);
}

Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options) {
  return options.inplace() ? hearth::leaky_relu_(input, options.negative_slope())
                           : hearth::leaky_relu(input, options.negative_slope());
}

Tensor elu(Tensor input, const ELUFuncOptions& options) {
  return options.inplace() ? hearth::elu_(input, options.alpha())
                           : hearth::elu(input, options.alpha());
}

Tensor gelu(const Tensor& input, const GELUFuncOptions& options) {
  return hearth::gelu(input, options.approximate());
}

Tensor silu(const Tensor& input) { return hearth::silu(input); }

Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options) {
  return hearth::softplus(input, options.beta(), options.threshold());
}

Tensor hardswish(Tensor input, const HardswishFuncOptions& options) {
  return options.inplace() ? hearth::hardswish_(input) : hearth::hardswish(input);
}

Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options) {
  return options.inplace() ? hearth::hardtanh_(input, options.min_val(), options.max_val())
                           : hearth::hardtanh(input, options.min_val(), options.max_val());
}

Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options) {
  return hearth::softmax(input, options.dim(), options.dtype());
}

Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options) {
  return hearth::log_softmax(input, options.dim(), options.dtype());
}

}  // namespace functional

namespace F = functional;

namespace {
/// "Name(options)" or "Name(options, inplace=true)".
std::string printed(const char* name, std::string options, bool inplace) {
  if (inplace) options += options.empty() ? "inplace=true" : ", inplace=true";
  return str(name, "(", options, ")");
}
}  // namespace

/// Defines a module's forward() and pretty_print(); `computed` is an expression of the input x.
#define HEARTH_ACTIVATION(Name, Input, computed, text)                  \
  Tensor Name##Impl::forward(Input input) {                             \
    return run_module(                                                  \
        *this, [this](Input x) { return computed; }, std::move(input)); \
  }                                                                     \
  void Name##Impl::pretty_print(std::ostream& stream) const { stream << text; }

HEARTH_ACTIVATION(ReLU, Tensor, F::relu(x, options), printed("ReLU", "", options.inplace()))
HEARTH_ACTIVATION(LeakyReLU, Tensor, F::leaky_relu(x, options),
                  printed("LeakyReLU", str("negative_slope=", options.negative_slope()),
                          options.inplace()))
HEARTH_ACTIVATION(ELU, Tensor, F::elu(x, options),
                  printed("ELU", str("alpha=", options.alpha()), options.inplace()))
HEARTH_ACTIVATION(GELU, const Tensor&, F::gelu(x, options), "GELU()")
HEARTH_ACTIVATION(SiLU, const Tensor&, F::silu(x), "SiLU()")
HEARTH_ACTIVATION(Sigmoid, const Tensor&, hearth::sigmoid(x), "Sigmoid()")
HEARTH_ACTIVATION(Tanh, const Tensor&, hearth::tanh(x), "Tanh()")
HEARTH_ACTIVATION(Softplus, const Tensor&, F::softplus(x, options),
                  str("Softplus(beta=", options.beta(), ", threshold=", options.threshold(), ")"))
HEARTH_ACTIVATION(Hardswish, Tensor, F::hardswish(x, options),
                  printed("Hardswish", "", options.inplace()))
HEARTH_ACTIVATION(Hardtanh, Tensor, F::hardtanh(x, options),
                  printed("Hardtanh",
                          str("min_val=", options.min_val(), ", max_val=", options.max_val()),
                          options.inplace()))
HEARTH_ACTIVATION(Softmax, const Tensor&, F::softmax(x, options.dim()),
                  str("Softmax(dim=", options.dim(), ")"))
HEARTH_ACTIVATION(LogSoftmax, const Tensor&, F::log_softmax(x, options.dim()),
                  str("LogSoftmax(dim=", options.dim(), ")"))
#undef HEARTH_ACTIVATION

}  // namespace hearth::nn
