#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

#include "hearth/nn/expanding_array.h"
#include "hearth/nn/stateless.h"

namespace hearth::nn {

/// The stride is the kernel's size unless given.
template <size_t D>
struct MaxPoolOptions {
  MaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  HEARTH_ARG(ExpandingArray<D>, kernel_size);
  HEARTH_ARG(ExpandingArray<D>, stride);
  HEARTH_ARG(ExpandingArray<D>, padding) = 0;
  HEARTH_ARG(ExpandingArray<D>, dilation) = 1;
  HEARTH_ARG(bool, ceil_mode) = false;
};
template <size_t D>
struct AvgPoolOptions {
  AvgPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  HEARTH_ARG(ExpandingArray<D>, kernel_size);
  HEARTH_ARG(ExpandingArray<D>, stride);
  HEARTH_ARG(ExpandingArray<D>, padding) = 0;
  HEARTH_ARG(bool, ceil_mode) = false;
  HEARTH_ARG(bool, count_include_pad) = true;
  HEARTH_ARG(std::optional<int64_t>, divisor_override);
};
/// std::nullopt keeps the input's size.
template <class OutputSize>
struct AdaptiveAvgPoolOptions {
  AdaptiveAvgPoolOptions(OutputSize output_size) : output_size_(output_size) {}
  HEARTH_ARG(OutputSize, output_size);
};
using MaxPool2dOptions = MaxPoolOptions<2>;
using AvgPool2dOptions = AvgPoolOptions<2>;
using AdaptiveAvgPool2dOptions = AdaptiveAvgPoolOptions<ExpandingArrayWithOptionalElem<2>>;

/// The largest element of each window.
class HEARTH_API MaxPool2dImpl : public detail::Stateless<MaxPool2dImpl, MaxPool2dOptions> {
 public:
  using detail::Stateless<MaxPool2dImpl, MaxPool2dOptions>::Stateless;
  MaxPool2dImpl(ExpandingArray<2> kernel_size) : MaxPool2dImpl(MaxPool2dOptions(kernel_size)) {}
  Tensor forward(const Tensor& input);
  /// Also where the elements are: their numbers in the plane.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
HEARTH_MODULE(MaxPool2d);

/// The mean of each window.
class HEARTH_API AvgPool2dImpl : public detail::Stateless<AvgPool2dImpl, AvgPool2dOptions> {
 public:
  using detail::Stateless<AvgPool2dImpl, AvgPool2dOptions>::Stateless;
  AvgPool2dImpl(ExpandingArray<2> kernel_size) : AvgPool2dImpl(AvgPool2dOptions(kernel_size)) {}
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
HEARTH_MODULE(AvgPool2d);

/// The means of as many windows as the output is to have elements.
class HEARTH_API AdaptiveAvgPool2dImpl
    : public detail::Stateless<AdaptiveAvgPool2dImpl, AdaptiveAvgPool2dOptions> {
 public:
  using detail::Stateless<AdaptiveAvgPool2dImpl, AdaptiveAvgPool2dOptions>::Stateless;
  AdaptiveAvgPool2dImpl(ExpandingArrayWithOptionalElem<2> output_size)
      : AdaptiveAvgPool2dImpl(AdaptiveAvgPool2dOptions(output_size)) {}
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
HEARTH_MODULE(AdaptiveAvgPool2d);

namespace functional {

using MaxPool2dFuncOptions = MaxPool2dOptions;
using AvgPool2dFuncOptions = AvgPool2dOptions;
using AdaptiveAvgPool2dFuncOptions = AdaptiveAvgPool2dOptions;

HEARTH_API Tensor max_pool2d(const Tensor& input, const MaxPool2dFuncOptions& options);
HEARTH_API std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input,
                                                              const MaxPool2dFuncOptions& options);
HEARTH_API Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options);
HEARTH_API Tensor adaptive_avg_pool2d(const Tensor& input,
                                      const AdaptiveAvgPool2dFuncOptions& options);

}  // namespace functional

}  // namespace hearth::nn
