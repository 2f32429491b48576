#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <variant>
#include <vector>

#include "hearth/arg.h"
#include "hearth/nn/any.h"
#include "hearth/nn/cloneable.h"
#include "hearth/nn/enum.h"
#include "hearth/nn/expanding_array.h"

namespace hearth::nn {

namespace detail {

using conv_padding_mode_t =
    std::variant<enumtype::kZeros, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;
template <size_t D>
using conv_padding_t = std::variant<ExpandingArray<D>, enumtype::kValid, enumtype::kSame>;

/// The option `padding`: numbers of elements, kSame or kValid.
#define HEARTH_CONV_PADDING                                            \
  HEARTH_ARG(padding_t, padding) = ExpandingArray<D>(0);               \
                                                                       \
 public:                                                               \
  auto padding(std::initializer_list<int64_t> list)->decltype(*this) { \
    return padding(padding_t(ExpandingArray<D>(list)));                \
  }

/// Options of all convolutions in one type.
template <size_t D>
struct ConvNdOptions {
  using padding_t = conv_padding_t<D>;
  ConvNdOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  HEARTH_ARG(int64_t, in_channels);
  HEARTH_ARG(int64_t, out_channels);
  HEARTH_ARG(ExpandingArray<D>, kernel_size);
  HEARTH_ARG(ExpandingArray<D>, stride) = 1;
  HEARTH_CONV_PADDING
  HEARTH_ARG(ExpandingArray<D>, dilation) = 1;
  HEARTH_ARG(bool, transposed) = false;
  HEARTH_ARG(ExpandingArray<D>, output_padding) = 0;
  HEARTH_ARG(int64_t, groups) = 1;
  HEARTH_ARG(bool, bias) = true;
  HEARTH_ARG(conv_padding_mode_t, padding_mode) = kZeros;
};

}  // namespace detail

/// Options of Conv1d and Conv2d.
template <size_t D>
struct ConvOptions {
  using padding_t = detail::conv_padding_t<D>;
  using padding_mode_t = detail::conv_padding_mode_t;
  ConvOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  HEARTH_ARG(int64_t, in_channels);            ///< C of the input
  HEARTH_ARG(int64_t, out_channels);           ///< C of the output
  HEARTH_ARG(ExpandingArray<D>, kernel_size);  ///< size of the kernel
  HEARTH_ARG(ExpandingArray<D>, stride) = 1;   ///< distance between kernel positions
  HEARTH_CONV_PADDING
  HEARTH_ARG(ExpandingArray<D>, dilation) = 1;        ///< distance between kernel elements
  HEARTH_ARG(int64_t, groups) = 1;                    ///< independent groups of channels
  HEARTH_ARG(bool, bias) = true;                      ///< whether a bias is added
  HEARTH_ARG(padding_mode_t, padding_mode) = kZeros;  ///< or kReflect, kReplicate, kCircular
};
using Conv1dOptions = ConvOptions<1>;  ///< options of Conv1d
using Conv2dOptions = ConvOptions<2>;  ///< options of Conv2d

/// Options of ConvTranspose2d.
template <size_t D>
struct ConvTransposeOptions {
  using padding_mode_t = detail::conv_padding_mode_t;
  ConvTransposeOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  HEARTH_ARG(int64_t, in_channels);            ///< C of the input
  HEARTH_ARG(int64_t, out_channels);           ///< C of the output
  HEARTH_ARG(ExpandingArray<D>, kernel_size);  ///< size of the kernel
  HEARTH_ARG(ExpandingArray<D>, stride) = 1;   ///< distance between kernel positions in the output
  HEARTH_ARG(ExpandingArray<D>, padding) = 0;  ///< elements removed from each border
  HEARTH_ARG(ExpandingArray<D>, output_padding) = 0;  ///< elements added to the end of the output
  HEARTH_ARG(int64_t, groups) = 1;                    ///< independent groups of channels
  HEARTH_ARG(bool, bias) = true;                      ///< whether a bias is added
  HEARTH_ARG(ExpandingArray<D>, dilation) = 1;        ///< distance between kernel elements
  HEARTH_ARG(padding_mode_t, padding_mode) = kZeros;  ///< only kZeros
};
using ConvTranspose2dOptions = ConvTransposeOptions<2>;  ///< options of ConvTranspose2d

/// Base of all convolutions: weight, bias, initialization and printing.
template <size_t D, class Derived>
class HEARTH_API ConvNdImpl : public Cloneable<Derived> {
 public:
  explicit ConvNdImpl(detail::ConvNdOptions<D> options_);
  void reset() override;
  void reset_parameters();  ///< draws new initial values
  void pretty_print(std::ostream& stream) const override;

  detail::ConvNdOptions<D> options;  ///< the options of the constructor
  Tensor weight;
  Tensor bias;

 protected:
  /// The cross-correlation of the input, padded by padding_mode, with the weight.
  Tensor convolve(const Tensor& input);
};

/// 1-D convolution of [N, C, L] or [C, L]; weight is [out_channels, C / groups, kernel].
class HEARTH_API Conv1dImpl : public ConvNdImpl<1, Conv1dImpl> {
 public:
  Conv1dImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<1> kernel_size);
  explicit Conv1dImpl(Conv1dOptions options_);
  Tensor forward(const Tensor& input);
};
HEARTH_MODULE(Conv1d);

/// 2-D convolution of [N, C, H, W] or [C, H, W]; weight is [out_channels, C / groups, kernel…].
class HEARTH_API Conv2dImpl : public ConvNdImpl<2, Conv2dImpl> {
 public:
  Conv2dImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<2> kernel_size);
  explicit Conv2dImpl(Conv2dOptions options_);
  Tensor forward(const Tensor& input);
};
HEARTH_MODULE(Conv2d);

/// Transposed convolution (the gradient of a convolution) of [N, C, H, W] or [C, H, W]; weight is
/// [C, out_channels / groups, kernel…]. `output_size` selects one of the possible output sizes.
class HEARTH_API ConvTranspose2dImpl : public ConvNdImpl<2, ConvTranspose2dImpl> {
 public:
  ConvTranspose2dImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<2> kernel_size);
  explicit ConvTranspose2dImpl(ConvTranspose2dOptions options_);
  Tensor forward(const Tensor& input, const std::optional<IntArrayRef>& output_size = std::nullopt);

 protected:
  HEARTH_DECLARE_DEFAULT_ARGS

 private:
  Tensor convolve_transposed(const Tensor& input, const std::optional<IntArrayRef>& output_size);
  std::vector<int64_t> output_padding_for(const Tensor& input, IntArrayRef output_size) const;
};
HEARTH_MODULE(ConvTranspose2d);

extern template class ConvNdImpl<1, Conv1dImpl>;
extern template class ConvNdImpl<2, Conv2dImpl>;
extern template class ConvNdImpl<2, ConvTranspose2dImpl>;

namespace functional {

/// Options of conv1d and conv2d, as in ConvOptions.
template <size_t D>
struct ConvFuncOptions {
  using padding_t = nn::detail::conv_padding_t<D>;
  HEARTH_ARG(Tensor, bias);                   ///< [out_channels], or undefined
  HEARTH_ARG(ExpandingArray<D>, stride) = 1;  ///< distance between kernel positions
  HEARTH_CONV_PADDING
  HEARTH_ARG(ExpandingArray<D>, dilation) = 1;  ///< distance between kernel elements
  HEARTH_ARG(int64_t, groups) = 1;              ///< independent groups of channels
};
using Conv1dFuncOptions = ConvFuncOptions<1>;  ///< options of conv1d
using Conv2dFuncOptions = ConvFuncOptions<2>;  ///< options of conv2d
#undef HEARTH_CONV_PADDING

/// Options of conv_transpose2d, as in ConvTransposeOptions.
template <size_t D>
struct ConvTransposeFuncOptions {
  HEARTH_ARG(Tensor, bias);                           ///< [out_channels], or undefined
  HEARTH_ARG(ExpandingArray<D>, stride) = 1;          ///< distance between kernel positions
  HEARTH_ARG(ExpandingArray<D>, padding) = 0;         ///< elements removed from each border
  HEARTH_ARG(ExpandingArray<D>, output_padding) = 0;  ///< elements added to the end of the output
  HEARTH_ARG(int64_t, groups) = 1;                    ///< independent groups of channels
  HEARTH_ARG(ExpandingArray<D>, dilation) = 1;        ///< distance between kernel elements
};
using ConvTranspose2dFuncOptions = ConvTransposeFuncOptions<2>;  ///< options of conv_transpose2d

HEARTH_API Tensor conv1d(const Tensor& input, const Tensor& weight,
                         const Conv1dFuncOptions& options = {});  ///< as Conv1d
HEARTH_API Tensor conv2d(const Tensor& input, const Tensor& weight,
                         const Conv2dFuncOptions& options = {});  ///< as Conv2d
/// As ConvTranspose2d.
HEARTH_API Tensor conv_transpose2d(const Tensor& input, const Tensor& weight,
                                   const ConvTranspose2dFuncOptions& options = {});

}  // namespace functional

}  // namespace hearth::nn
