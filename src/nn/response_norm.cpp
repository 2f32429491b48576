#include "hearth/nn/response_norm.h"

#include <ostream>

#include "hearth/operators.h"

namespace hearth::nn {

namespace {

/// For each channel c of `[N, C, …]`, the sum over channels c - before to c + after, divided by
/// `divisor`.
Tensor channel_windows(const Tensor& input, int64_t before, int64_t after, int64_t divisor) {
  const Tensor planes = input.reshape(
      {input.size(0), 1, input.size(1), input.numel() / input.size(0) / input.size(1)});
  const Tensor padded = planes.constant_pad_nd({0, 0, before, after});
  return avg_pool2d(padded, {before + after + 1, 1}, 1, 0, false, true, divisor)
      .reshape(input.sizes());
}

Tensor cross_map(const Tensor& x, const CrossMapLRN2dOptions& options) {
  HEARTH_CHECK(x.dim() == 4, "CrossMapLRN2d: Expected input to be 4D, got ", x.dim(), "D instead.");
  HEARTH_CHECK(options.size() > 0, "CrossMapLRN2d: expected a positive size, got ", options.size());
  if (x.numel() == 0) return x;
  const int64_t half_width = (options.size() - 1) / 2;
  const Tensor squares = x * x;
  Tensor sums = channel_windows(squares, half_width, half_width, 1);
  const int64_t rest = x.size(1) - half_width - 1;
  if (rest > 0)  // as in PyTorch, the first channel is never removed from the sum
    sums = cat({sums.narrow(1, 0, half_width + 1),
                sums.narrow(1, half_width + 1, rest) + squares.narrow(1, 0, 1)},
               1);
  return x * (sums * (options.alpha() / static_cast<double>(options.size())) + options.k())
                 .pow(-options.beta());
}

}  // namespace

namespace functional {

Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& options) {
  HEARTH_CHECK(input.dim() >= 3, "Expected 3D or higher dimensionality input (got ", input.dim(),
               " dimensions)");
  const int64_t size = options.size();
  HEARTH_CHECK(size > 0, "kernel size should be greater than zero, but got kH: ", size, " kW: 1");
  if (input.numel() == 0) return input;
  const Tensor means = channel_windows(input * input, size / 2, (size - 1) / 2, size);
  return input / (means * options.alpha() + options.k()).pow(options.beta());
}

}  // namespace functional

namespace {
template <class Options>
void print(std::ostream& stream, const char* name, const Options& options) {
  stream << hearth::detail::str(name, "(", options.size(), ", alpha=", options.alpha(),
                                ", beta=", options.beta(), ", k=", options.k(), ")");
}
}  // namespace

Tensor LocalResponseNormImpl::forward(const Tensor& input) {
  return run_module(
      *this, [this](const Tensor& x) { return functional::local_response_norm(x, options); },
      input);
}

void LocalResponseNormImpl::pretty_print(std::ostream& stream) const {
  print(stream, "LocalResponseNorm", options);
}

Tensor CrossMapLRN2dImpl::forward(const Tensor& input) {
  return run_module(
      *this, [this](const Tensor& x) { return cross_map(x, options); }, input);
}

void CrossMapLRN2dImpl::pretty_print(std::ostream& stream) const {
  print(stream, "CrossMapLRN2d", options);
}

}  // namespace hearth::nn
