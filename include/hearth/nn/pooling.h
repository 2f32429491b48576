#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

#include "hearth/nn/expanding_array.h"
#include "hearth/nn/stateless.h"

namespace hearth::nn {

/// Options of MaxPool2d and max_pool2d.
template <size_t D>
struct MaxPoolOptions {
  MaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  HEARTH_ARG(ExpandingArray<D>, kernel_size);   ///< size of a window
  HEARTH_ARG(ExpandingArray<D>, stride);        ///< distance between windows (default: kernel_size)
  HEARTH_ARG(ExpandingArray<D>, padding) = 0;   ///< border of -infinity
  HEARTH_ARG(ExpandingArray<D>, dilation) = 1;  ///< distance between elements in a window
  HEARTH_ARG(bool, ceil_mode) = false;          ///< whether windows may be incomplete
};
/// Options of AvgPool2d and avg_pool2d.
template <size_t D>
struct AvgPoolOptions {
  AvgPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  HEARTH_ARG(ExpandingArray<D>, kernel_size);            ///< size of a window
  HEARTH_ARG(ExpandingArray<D>, stride);                 ///< by default kernel_size
  HEARTH_ARG(ExpandingArray<D>, padding) = 0;            ///< border of zeros
  HEARTH_ARG(bool, ceil_mode) = false;                   ///< whether windows may be incomplete
  HEARTH_ARG(bool, count_include_pad) = true;            ///< whether the mean includes the padding
  HEARTH_ARG(std::optional<int64_t>, divisor_override);  ///< divisor instead of the element count
};
/// Options of AdaptiveAvgPool2d and adaptive_avg_pool2d.
template <class OutputSize>
struct AdaptiveAvgPoolOptions {
  AdaptiveAvgPoolOptions(OutputSize output_size) : output_size_(output_size) {}
  HEARTH_ARG(OutputSize, output_size);  ///< std::nullopt keeps the input's size
};
using MaxPool2dOptions = MaxPoolOptions<2>;  ///< options of MaxPool2d
using AvgPool2dOptions = AvgPoolOptions<2>;  ///< options of AvgPool2d
using AdaptiveAvgPool2dOptions = AdaptiveAvgPoolOptions<ExpandingArrayWithOptionalElem<2>>;

/// The largest element of each window of [N, C, H, W] or [C, H, W].
class HEARTH_API MaxPool2dImpl : public detail::Stateless<MaxPool2dImpl, MaxPool2dOptions> {
 public:
  using detail::Stateless<MaxPool2dImpl, MaxPool2dOptions>::Stateless;
  MaxPool2dImpl(ExpandingArray<2> kernel_size);
  Tensor forward(const Tensor& input);
  /// Also returns the index of each largest element in its plane, row * W + column.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
HEARTH_MODULE(MaxPool2d);

/// The mean of each window of [N, C, H, W] or [C, H, W].
class HEARTH_API AvgPool2dImpl : public detail::Stateless<AvgPool2dImpl, AvgPool2dOptions> {
 public:
  using detail::Stateless<AvgPool2dImpl, AvgPool2dOptions>::Stateless;
  AvgPool2dImpl(ExpandingArray<2> kernel_size);
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
HEARTH_MODULE(AvgPool2d);

/// The means of output_size windows, which cover [N, C, H, W] or [C, H, W].
class HEARTH_API AdaptiveAvgPool2dImpl
    : public detail::Stateless<AdaptiveAvgPool2dImpl, AdaptiveAvgPool2dOptions> {
 public:
  using detail::Stateless<AdaptiveAvgPool2dImpl, AdaptiveAvgPool2dOptions>::Stateless;
  AdaptiveAvgPool2dImpl(ExpandingArrayWithOptionalElem<2> output_size);
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
HEARTH_MODULE(AdaptiveAvgPool2d);

namespace functional {

using MaxPool2dFuncOptions = MaxPool2dOptions;                  ///< options of max_pool2d
using AvgPool2dFuncOptions = AvgPool2dOptions;                  ///< options of avg_pool2d
using AdaptiveAvgPool2dFuncOptions = AdaptiveAvgPool2dOptions;  ///< options of adaptive_avg_pool2d

// The modules of the same names, in the form of functions.
/// As MaxPool2d.
HEARTH_API Tensor max_pool2d(const Tensor& input, const MaxPool2dFuncOptions& options);
/// As MaxPool2dImpl::forward_with_indices.
HEARTH_API std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input,
                                                              const MaxPool2dFuncOptions& options);
/// As AvgPool2d.
HEARTH_API Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options);
/// As AdaptiveAvgPool2d.
HEARTH_API Tensor adaptive_avg_pool2d(const Tensor& input,
                                      const AdaptiveAvgPool2dFuncOptions& options);

}  // namespace functional

}  // namespace hearth::nn
