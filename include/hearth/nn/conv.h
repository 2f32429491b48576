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

/// The option `padding`: D numbers of elements, kSame or kValid. The variant takes 8 bytes for each
/// number and 8 for its index.
#define HEARTH_CONV_PADDING                                            \
  HEARTH_CHOICE(padding_t, padding, 8 * D + 8) = ExpandingArray<D>(0); \
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
  HEARTH_CHOICE(conv_padding_mode_t, padding_mode) = kZeros;
};

}  // namespace detail

/// Options of Conv1d to Conv3d.
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
  HEARTH_ARG(ExpandingArray<D>, dilation) = 1;           ///< distance between kernel elements
  HEARTH_ARG(int64_t, groups) = 1;                       ///< independent groups of channels
  HEARTH_ARG(bool, bias) = true;                         ///< whether a bias is added
  HEARTH_CHOICE(padding_mode_t, padding_mode) = kZeros;  ///< or kReflect, kReplicate, kCircular
};
using Conv1dOptions = ConvOptions<1>;  ///< options of Conv1d
using Conv2dOptions = ConvOptions<2>;  ///< options of Conv2d
using Conv3dOptions = ConvOptions<3>;  ///< options of Conv3d

/// Options of ConvTranspose1d to ConvTranspose3d.
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
  HEARTH_CHOICE(padding_mode_t, padding_mode) = kZeros;  ///< only kZeros
};
using ConvTranspose1dOptions = ConvTransposeOptions<1>;  ///< options of ConvTranspose1d
using ConvTranspose2dOptions = ConvTransposeOptions<2>;  ///< options of ConvTranspose2d
using ConvTranspose3dOptions = ConvTransposeOptions<3>;  ///< options of ConvTranspose3d

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

/// Base of the transposed convolutions (the gradients of convolutions).
template <size_t D, class Derived>
class HEARTH_API ConvTransposeNdImpl : public ConvNdImpl<D, Derived> {
 public:
  using ConvNdImpl<D, Derived>::ConvNdImpl;

 protected:
  Tensor convolve_transposed(const Tensor& input, const std::optional<IntArrayRef>& output_size);

 private:
  std::vector<int64_t> output_padding_for(const Tensor& input, IntArrayRef output_size) const;
};

#define HEARTH_CONV(Name, D)                                                              \
  class HEARTH_API Name##Impl : public ConvNdImpl<D, Name##Impl> {                        \
   public:                                                                                \
    Name##Impl(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size); \
    explicit Name##Impl(ConvOptions<D> options_);                                         \
    Tensor forward(const Tensor& input);                                                  \
  };                                                                                      \
  HEARTH_MODULE(Name);                                                                    \
  extern template class ConvNdImpl<D, Name##Impl>
#define HEARTH_CONV_TRANSPOSE(Name, D)                                                    \
  class HEARTH_API Name##Impl : public ConvTransposeNdImpl<D, Name##Impl> {               \
   public:                                                                                \
    Name##Impl(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size); \
    explicit Name##Impl(ConvTransposeOptions<D> options_);                                \
    Tensor forward(const Tensor& input,                                                   \
                   const std::optional<IntArrayRef>& output_size = std::nullopt);         \
                                                                                          \
   protected:                                                                             \
    HEARTH_DECLARE_DEFAULT_ARGS                                                           \
  };                                                                                      \
  HEARTH_MODULE(Name);                                                                    \
  extern template class ConvNdImpl<D, Name##Impl>;                                        \
  extern template class ConvTransposeNdImpl<D, Name##Impl>

/// 1-D convolution of [N, C, L] or [C, L]; weight is [out_channels, C / groups, kernel].
HEARTH_CONV(Conv1d, 1);
/// 2-D convolution of [N, C, H, W] or [C, H, W]; weight is [out_channels, C / groups, kernel…].
HEARTH_CONV(Conv2d, 2);
/// 3-D convolution of [N, C, D, H, W] or [C, D, H, W]; weight is [out_channels, C / groups,
/// kernel…].
HEARTH_CONV(Conv3d, 3);
/// Transposed convolution (the gradient of a convolution) of [N, C, L] or [C, L]; weight is [C,
/// out_channels / groups, kernel]. `output_size` selects one of the possible output sizes.
HEARTH_CONV_TRANSPOSE(ConvTranspose1d, 1);
/// ConvTranspose1d for [N, C, H, W] or [C, H, W]; weight is [C, out_channels / groups, kernel…].
HEARTH_CONV_TRANSPOSE(ConvTranspose2d, 2);
/// ConvTranspose1d for [N, C, D, H, W] or [C, D, H, W]; weight is [C, out_channels / groups,
/// kernel…].
HEARTH_CONV_TRANSPOSE(ConvTranspose3d, 3);
#undef HEARTH_CONV
#undef HEARTH_CONV_TRANSPOSE

namespace functional {

/// Options of conv1d to conv3d, as in ConvOptions.
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
using Conv3dFuncOptions = ConvFuncOptions<3>;  ///< options of conv3d
#undef HEARTH_CONV_PADDING

/// Options of conv_transpose1d to conv_transpose3d, as in ConvTransposeOptions.
template <size_t D>
struct ConvTransposeFuncOptions {
  HEARTH_ARG(Tensor, bias);                           ///< [out_channels], or undefined
  HEARTH_ARG(ExpandingArray<D>, stride) = 1;          ///< distance between kernel positions
  HEARTH_ARG(ExpandingArray<D>, padding) = 0;         ///< elements removed from each border
  HEARTH_ARG(ExpandingArray<D>, output_padding) = 0;  ///< elements added to the end of the output
  HEARTH_ARG(int64_t, groups) = 1;                    ///< independent groups of channels
  HEARTH_ARG(ExpandingArray<D>, dilation) = 1;        ///< distance between kernel elements
};
using ConvTranspose1dFuncOptions = ConvTransposeFuncOptions<1>;  ///< options of conv_transpose1d
using ConvTranspose2dFuncOptions = ConvTransposeFuncOptions<2>;  ///< options of conv_transpose2d
using ConvTranspose3dFuncOptions = ConvTransposeFuncOptions<3>;  ///< options of conv_transpose3d

HEARTH_API Tensor conv1d(const Tensor& input, const Tensor& weight,
                         const Conv1dFuncOptions& options = {});  ///< as Conv1d
HEARTH_API Tensor conv2d(const Tensor& input, const Tensor& weight,
                         const Conv2dFuncOptions& options = {});  ///< as Conv2d
HEARTH_API Tensor conv3d(const Tensor& input, const Tensor& weight,
                         const Conv3dFuncOptions& options = {});  ///< as Conv3d
/// As ConvTranspose1d.
HEARTH_API Tensor conv_transpose1d(const Tensor& input, const Tensor& weight,
                                   const ConvTranspose1dFuncOptions& options = {});
/// As ConvTranspose2d.
HEARTH_API Tensor conv_transpose2d(const Tensor& input, const Tensor& weight,
                                   const ConvTranspose2dFuncOptions& options = {});
/// As ConvTranspose3d.
HEARTH_API Tensor conv_transpose3d(const Tensor& input, const Tensor& weight,
                                   const ConvTranspose3dFuncOptions& options = {});

}  // namespace functional

}  // namespace hearth::nn
