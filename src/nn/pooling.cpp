#include "hearth/nn/pooling.h"

#include <ostream>

namespace hearth::nn {

using hearth::detail::str;

namespace functional {

Tensor max_pool2d(const Tensor& input, const MaxPool2dFuncOptions& options) {
  return hearth::max_pool2d(input, options.kernel_size(), options.stride(), options.padding(),
                            options.dilation(), options.ceil_mode());
}

std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input,
                                                   const MaxPool2dFuncOptions& options) {
  return hearth::max_pool2d_with_indices(input, options.kernel_size(), options.stride(),
                                         options.padding(), options.dilation(),
                                         options.ceil_mode());
}

Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options) {
  return hearth::avg_pool2d(input, options.kernel_size(), options.stride(), options.padding(),
                            options.ceil_mode(), options.count_include_pad(),
                            options.divisor_override());
}

Tensor adaptive_avg_pool2d(const Tensor& input, const AdaptiveAvgPool2dFuncOptions& options) {
  HEARTH_CHECK(input.dim() > 2, "Input dimension should be at least 3");
  const auto& sizes = *options.output_size();
  return hearth::adaptive_avg_pool2d(
      input, {sizes[0].value_or(input.size(-2)), sizes[1].value_or(input.size(-1))});
}

}  // namespace functional

namespace F = functional;

Tensor MaxPool2dImpl::forward(const Tensor& input) {
  return run_module(
      *this, [this](const Tensor& x) { return F::max_pool2d(x, options); }, input);
}

std::tuple<Tensor, Tensor> MaxPool2dImpl::forward_with_indices(const Tensor& input) {
  return run_module(
      *this, [this](const Tensor& x) { return F::max_pool2d_with_indices(x, options); }, input);
}

void MaxPool2dImpl::pretty_print(std::ostream& stream) const {
  stream << str("MaxPool2d(kernel_size=", options.kernel_size(), ", stride=", options.stride(),
                ", padding=", options.padding(), ", dilation=", options.dilation(),
                ", ceil_mode=", options.ceil_mode(), ")");
}

Tensor AvgPool2dImpl::forward(const Tensor& input) {
  return run_module(
      *this, [this](const Tensor& x) { return F::avg_pool2d(x, options); }, input);
}

void AvgPool2dImpl::pretty_print(std::ostream& stream) const {
  stream << str("AvgPool2d(kernel_size=", options.kernel_size(), ", stride=", options.stride(),
                ", padding=", options.padding(), ")");
}

Tensor AdaptiveAvgPool2dImpl::forward(const Tensor& input) {
  return run_module(
      *this, [this](const Tensor& x) { return F::adaptive_avg_pool2d(x, options); }, input);
}

void AdaptiveAvgPool2dImpl::pretty_print(std::ostream& stream) const {
  stream << str("AdaptiveAvgPool2d(output_size=", options.output_size(), ")");
}

}  // namespace hearth::nn
