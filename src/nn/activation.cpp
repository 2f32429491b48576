#include "hearth/nn/activation.h"

#include <ostream>

#include "hearth/operators.h"

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

Tensor softmin(const Tensor& input, const SoftminFuncOptions& options) {
  return hearth::softmax(-input, options.dim(), options.dtype());
}

Tensor relu6(Tensor input, const ReLU6FuncOptions& options) {
  return options.inplace() ? hearth::relu6_(input) : hearth::relu6(input);
}

Tensor selu(Tensor input, const SELUFuncOptions& options) {
  return options.inplace() ? hearth::selu_(input) : hearth::selu(input);
}

Tensor celu(Tensor input, const CELUFuncOptions& options) {
  return options.inplace() ? hearth::celu_(input, options.alpha())
                           : hearth::celu(input, options.alpha());
}

Tensor glu(const Tensor& input, const GLUFuncOptions& options) {
  HEARTH_CHECK(input.dim() != 0, "glu does not support scalars because halving size must be even");
  return hearth::glu(input, options.dim());
}

Tensor mish(const Tensor& input) { return hearth::mish(input); }

Tensor logsigmoid(const Tensor& input) { return hearth::log_sigmoid(input); }

Tensor softsign(const Tensor& input) { return input.softsign(); }

Tensor tanhshrink(const Tensor& input) { return input - input.tanh(); }

Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options) {
  return hearth::hardshrink(input, options.lambda());
}

Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options) {
  return hearth::softshrink(input, options.lambda());
}

Tensor hardsigmoid(Tensor input, const HardsigmoidFuncOptions& options) {
  return options.inplace() ? hearth::hardsigmoid_(input) : hearth::hardsigmoid(input);
}

Tensor threshold(Tensor input, const ThresholdFuncOptions& options) {
  return options.inplace() ? hearth::threshold_(input, options.threshold(), options.value())
                           : hearth::threshold(input, options.threshold(), options.value());
}

Tensor prelu(const Tensor& input, const Tensor& weight) { return hearth::prelu(input, weight); }

Tensor rrelu(Tensor input, const RReLUFuncOptions& options) {
  return options.inplace()
             ? hearth::rrelu_(input, options.lower(), options.upper(), options.training())
             : hearth::rrelu(input, options.lower(), options.upper(), options.training());
}

Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& options) {
  const Tensor noise = -empty_like(logits).exponential_().log();
  const Tensor soft = ((logits + noise) / options.tau()).softmax(options.dim());
  if (!options.hard()) return soft;
  const Tensor index = std::get<1>(soft.max(options.dim(), /*keepdim=*/true));
  const Tensor hard = zeros_like(logits).scatter_(options.dim(), index, 1.0);
  return hard - soft.detach() + soft;
}

}  // namespace functional

namespace F = functional;

namespace {
/// Returns "Name(options)" or "Name(options, inplace=true)".
std::string printed(const char* name, std::string options, bool inplace) {
  if (inplace) options += options.empty() ? "inplace=true" : ", inplace=true";
  return str(name, "(", options, ")");
}

Tensor softmax_over_channels(const Tensor& x) {
  HEARTH_CHECK(x.dim() == 3 || x.dim() == 4, "Softmax2d requires a 3D or 4D tensor as input");
  return x.softmax(-3);
}

F::RReLUFuncOptions func_options(const RReLUOptions& options, bool training) {
  return F::RReLUFuncOptions()
      .lower(options.lower())
      .upper(options.upper())
      .training(training)
      .inplace(options.inplace());
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
HEARTH_ACTIVATION(Softmin, const Tensor&, F::softmin(x, options.dim()),
                  str("Softmin(dim=", options.dim(), ")"))
HEARTH_ACTIVATION(Softmax2d, const Tensor&, softmax_over_channels(x), "Softmax2d()")
HEARTH_ACTIVATION(ReLU6, Tensor, F::relu6(x, options), printed("ReLU6", "", options.inplace()))
HEARTH_ACTIVATION(SELU, Tensor, F::selu(x, options), printed("SELU", "", options.inplace()))
HEARTH_ACTIVATION(CELU, Tensor, F::celu(x, options),
                  printed("CELU", str("alpha=", options.alpha()), options.inplace()))
HEARTH_ACTIVATION(GLU, const Tensor&, F::glu(x, options), str("GLU(dim=", options.dim(), ")"))
HEARTH_ACTIVATION(Mish, const Tensor&, F::mish(x), "Mish()")
HEARTH_ACTIVATION(LogSigmoid, const Tensor&, F::logsigmoid(x), "LogSigmoid()")
HEARTH_ACTIVATION(Softsign, const Tensor&, F::softsign(x), "Softsign()")
HEARTH_ACTIVATION(Tanhshrink, const Tensor&, F::tanhshrink(x), "Tanhshrink()")
HEARTH_ACTIVATION(Hardshrink, const Tensor&, F::hardshrink(x, options),
                  str("Hardshrink(", options.lambda(), ")"))
HEARTH_ACTIVATION(Softshrink, const Tensor&, F::softshrink(x, options),
                  str("Softshrink(", options.lambda(), ")"))
HEARTH_ACTIVATION(Hardsigmoid, Tensor, F::hardsigmoid(x, options),
                  printed("Hardsigmoid", "", options.inplace()))
HEARTH_ACTIVATION(Threshold, Tensor, F::threshold(x, options),
                  printed("Threshold",
                          str("threshold=", options.threshold(), ", value=", options.value()),
                          options.inplace()))
HEARTH_ACTIVATION(PReLU, const Tensor&, F::prelu(x, weight),
                  str("PReLU(num_parameters=", options.num_parameters(), ")"))
HEARTH_ACTIVATION(RReLU, Tensor, F::rrelu(x, func_options(options, is_training())),
                  printed("RReLU", str("lower=", options.lower(), ", upper=", options.upper()),
                          options.inplace()))
#undef HEARTH_ACTIVATION

HardtanhImpl::HardtanhImpl(const HardtanhOptions& options_) : Stateless(options_) {
  HardtanhImpl::reset();
}

void HardtanhImpl::reset() {
  HEARTH_CHECK(options.min_val() < options.max_val(), "max_val must be greater than min_val");
}

ThresholdImpl::ThresholdImpl(double threshold, double value)
    : ThresholdImpl(ThresholdOptions(threshold, value)) {}

PReLUImpl::PReLUImpl(const PReLUOptions& options_) : options(options_) { PReLUImpl::reset(); }

void PReLUImpl::reset() {
  weight = register_parameter("weight", full({options.num_parameters()}, options.init()));
}

}  // namespace hearth::nn
