#include "hearth/nn/conv.h"

#include <cmath>
#include <ostream>

#include "hearth/nn/init.h"
#include "nn/spaced.h"

namespace hearth::nn {

using hearth::detail::str;

namespace {

/// Computes the D-dimensional convolution with these options.
template <size_t D>
Tensor convolution_of(const Tensor& input, const Tensor& weight, const Tensor& bias,
                      const ExpandingArray<D>& stride, const detail::conv_padding_t<D>& padding,
                      const ExpandingArray<D>& dilation, int64_t groups) {
  const auto convolve = [&](auto pad) {
    const std::optional<Tensor> b = bias.defined() ? std::optional(bias) : std::nullopt;
    if constexpr (D == 1)
      return hearth::conv1d(input, weight, b, stride, pad, dilation, groups);
    else if constexpr (D == 2)
      return hearth::conv2d(input, weight, b, stride, pad, dilation, groups);
    else
      return hearth::conv3d(input, weight, b, stride, pad, dilation, groups);
  };
  if (const auto* sizes = std::get_if<ExpandingArray<D>>(&padding))
    return convolve(IntArrayRef(*sizes));
  const bool is_same = std::holds_alternative<enumtype::kSame>(padding);
  return convolve(PaddingName(is_same ? "same" : "valid"));
}

}  // namespace

namespace functional {

#define HEARTH_CONV(n)                                                                           \
  Tensor conv##n##d(const Tensor& input, const Tensor& weight, const Conv##n##dFuncOptions& o) { \
    return convolution_of<n>(input, weight, o.bias(), o.stride(), o.padding(), o.dilation(),     \
                             o.groups());                                                        \
  }                                                                                              \
  Tensor conv_transpose##n##d(const Tensor& input, const Tensor& weight,                         \
                              const ConvTranspose##n##dFuncOptions& o) {                         \
    const std::optional<Tensor> bias =                                                           \
        o.bias().defined() ? std::optional(o.bias()) : std::nullopt;                             \
    return hearth::conv_transpose##n##d(input, weight, bias, o.stride(), o.padding(),            \
                                        o.output_padding(), o.groups(), o.dilation());           \
  }
HEARTH_CONV(1)
HEARTH_CONV(2)
HEARTH_CONV(3)
#undef HEARTH_CONV

}  // namespace functional

// ---- common to all convolutions

template <size_t D, class Derived>
ConvNdImpl<D, Derived>::ConvNdImpl(detail::ConvNdOptions<D> options_)
    : options(std::move(options_)) {
  ConvNdImpl::reset();
}

template <size_t D, class Derived>
void ConvNdImpl<D, Derived>::reset() {
  const int64_t in = options.in_channels(), out = options.out_channels(), groups = options.groups();
  HEARTH_CHECK(in > 0 && groups > 0 && out > 0,
               "in_channels, groups and out_channels must be a positive integer.");
  HEARTH_CHECK(in % groups == 0, "in_channels must be divisible by groups");
  HEARTH_CHECK(out % groups == 0, "out_channels must be divisible by groups");
  if (std::holds_alternative<enumtype::kSame>(options.padding()))
    for (const int64_t stride : *options.stride())
      HEARTH_CHECK(stride == 1, "padding='same' is not supported for strided convolutions");
  std::vector<int64_t> sizes = options.transposed() ? std::vector<int64_t>{in, out / groups}
                                                    : std::vector<int64_t>{out, in / groups};
  sizes.insert(sizes.end(), options.kernel_size()->begin(), options.kernel_size()->end());
  weight = this->register_parameter("weight", hearth::empty(sizes));
  const bool has_bias = options.bias();
  bias = this->register_parameter("bias", has_bias ? empty(out) : Tensor(), has_bias);
  reset_parameters();
}

template <size_t D, class Derived>
void ConvNdImpl<D, Derived>::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const auto [fan_in, fan_out] = init::_calculate_fan_in_and_fan_out(weight);
  const double bound = fan_in > 0 ? 1 / std::sqrt(static_cast<double>(fan_in)) : 0;
  init::uniform_(bias, -bound, bound);
}

namespace {
template <size_t D>
std::string padding_text(const detail::conv_padding_t<D>& padding) {
  if (std::holds_alternative<enumtype::kValid>(padding)) return ", padding='valid'";
  if (std::holds_alternative<enumtype::kSame>(padding)) return ", padding='same'";
  const auto& sizes = std::get<ExpandingArray<D>>(padding);
  return *sizes == *ExpandingArray<D>(0) ? "" : str(", padding=", sizes);
}
}  // namespace

template <size_t D, class Derived>
void ConvNdImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  stream << str("Conv", options.transposed() ? "Transpose" : "", D, "d(", options.in_channels(),
                ", ", options.out_channels(), ", kernel_size=", options.kernel_size(),
                ", stride=", options.stride(), padding_text<D>(options.padding()));
  if (*options.dilation() != *ExpandingArray<D>(1))
    stream << str(", dilation=", options.dilation());
  if (*options.output_padding() != *ExpandingArray<D>(0))
    stream << str(", output_padding=", options.output_padding());
  if (options.groups() != 1) stream << ", groups=" << options.groups();
  if (!options.bias()) stream << ", bias=false";
  if (!std::holds_alternative<enumtype::kZeros>(options.padding_mode()))
    stream << ", padding_mode=" << enumtype::get_enum_name(options.padding_mode());
  stream << ')';
}

namespace {

/// Returns the left and right padding of each dimension from the last to the first, as for pad().
template <size_t D>
std::vector<int64_t> pad_arguments(const detail::ConvNdOptions<D>& options) {
  std::vector<int64_t> result;
  for (size_t i = D; i-- > 0;) {
    int64_t left = 0, right = 0;
    if (const auto* sizes = std::get_if<ExpandingArray<D>>(&options.padding())) {
      left = right = (**sizes)[i];
    } else if (std::holds_alternative<enumtype::kSame>(options.padding())) {
      const int64_t total = (*options.dilation())[i] * ((*options.kernel_size())[i] - 1);
      left = total / 2;
      right = total - left;
    }
    result.insert(result.end(), {left, right});
  }
  return result;
}

const char* mode_name(const detail::conv_padding_mode_t& mode) {
  if (std::holds_alternative<enumtype::kReflect>(mode)) return "reflect";
  if (std::holds_alternative<enumtype::kReplicate>(mode)) return "replicate";
  return "circular";
}

}  // namespace

template <size_t D, class Derived>
Tensor ConvNdImpl<D, Derived>::convolve(const Tensor& input) {
  if (std::holds_alternative<enumtype::kZeros>(options.padding_mode()))
    return convolution_of<D>(input, weight, bias, options.stride(), options.padding(),
                             options.dilation(), options.groups());
  const Tensor padded = pad(input, pad_arguments<D>(options), mode_name(options.padding_mode()));
  return convolution_of<D>(padded, weight, bias, options.stride(), ExpandingArray<D>(0),
                           options.dilation(), options.groups());
}

// ---- transposed convolutions

template <size_t D, class Derived>
Tensor ConvTransposeNdImpl<D, Derived>::convolve_transposed(
    const Tensor& input, const std::optional<IntArrayRef>& output_size) {
  const auto& o = this->options;
  HEARTH_CHECK(std::holds_alternative<enumtype::kZeros>(o.padding_mode()),
               "Only `zeros` padding mode is supported for ConvTranspose", D, "d");
  ExpandingArray<D> padding = o.output_padding();
  if (output_size) padding = output_padding_for(input, *output_size);
  const auto arguments = functional::ConvTransposeFuncOptions<D>()
                             .bias(this->bias)
                             .stride(o.stride())
                             .padding(std::get<0>(o.padding()))
                             .output_padding(padding)
                             .groups(o.groups())
                             .dilation(o.dilation());
  if constexpr (D == 1)
    return functional::conv_transpose1d(input, this->weight, arguments);
  else if constexpr (D == 2)
    return functional::conv_transpose2d(input, this->weight, arguments);
  else
    return functional::conv_transpose3d(input, this->weight, arguments);
}

template <size_t D, class Derived>
std::vector<int64_t> ConvTransposeNdImpl<D, Derived>::output_padding_for(
    const Tensor& input, IntArrayRef output_size) const {
  const auto& o = this->options;
  const size_t num_sizes = output_size.size(), dim = size_t(input.dim());
  HEARTH_CHECK(dim == D + 1 || dim == D + 2, "Expected ", D + 1, "D (unbatched) or ", D + 2,
               "D (batched) input to conv_transpose", D,
               "d, but got input of size: ", input.sizes());
  HEARTH_CHECK(num_sizes == D || num_sizes == dim, "output_size must have ", D, " or ", dim,
               " elements (got ", num_sizes, ")");
  const IntArrayRef requested = output_size.slice(num_sizes - D),
                    sizes = input.sizes().slice(dim - D);
  std::vector<int64_t> smallest, largest, padding;
  bool is_possible = true;
  for (size_t i = 0; i < D; ++i) {
    const int64_t stride = (*o.stride())[i];
    smallest.push_back((sizes[i] - 1) * stride - 2 * (*std::get<0>(o.padding()))[i] +
                       (*o.dilation())[i] * ((*o.kernel_size())[i] - 1) + 1);
    largest.push_back(smallest[i] + stride - 1);
    padding.push_back(requested[i] - smallest[i]);
    is_possible &= smallest[i] <= requested[i] && requested[i] <= largest[i];
  }
  HEARTH_CHECK(is_possible, "requested an output size of ", requested,
               ", but valid sizes range from ", spaced(smallest), " to ", spaced(largest),
               " (for an input of ", sizes, ")");
  return padding;
}

// ---- the modules

namespace {
/// Converts the options that convolutions and transposed convolutions share.
template <size_t D, class Options>
detail::ConvNdOptions<D> conv_options(const Options& o) {
  return detail::ConvNdOptions<D>(o.in_channels(), o.out_channels(), o.kernel_size())
      .stride(o.stride())
      .padding(typename detail::ConvNdOptions<D>::padding_t(o.padding()))
      .dilation(o.dilation())
      .groups(o.groups())
      .bias(o.bias())
      .padding_mode(o.padding_mode());
}
}  // namespace

#define HEARTH_DEFINE_CONV(Name, D)                                                                \
  Name##Impl::Name##Impl(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size) \
      : Name##Impl(ConvOptions<D>(in_channels, out_channels, kernel_size)) {}                      \
  Name##Impl::Name##Impl(ConvOptions<D> options_) : ConvNdImpl(conv_options<D>(options_)) {}       \
  Tensor Name##Impl::forward(const Tensor& input) {                                                \
    return run_module(*this, &Name##Impl::convolve, input);                                        \
  }                                                                                                \
  template class ConvNdImpl<D, Name##Impl>;
HEARTH_DEFINE_CONV(Conv1d, 1)
HEARTH_DEFINE_CONV(Conv2d, 2)
HEARTH_DEFINE_CONV(Conv3d, 3)

#define HEARTH_DEFINE_CONV_TRANSPOSE(Name, D)                                                      \
  Name##Impl::Name##Impl(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size) \
      : Name##Impl(ConvTransposeOptions<D>(in_channels, out_channels, kernel_size)) {}             \
  Name##Impl::Name##Impl(ConvTransposeOptions<D> options_)                                         \
      : ConvTransposeNdImpl(conv_options<D>(options_).transposed(true).output_padding(             \
            options_.output_padding())) {}                                                         \
  HEARTH_DEFINE_DEFAULT_ARGS(Name##Impl, {1, AnyValue(std::optional<IntArrayRef>())})              \
  Tensor Name##Impl::forward(const Tensor& input, const std::optional<IntArrayRef>& output_size) { \
    return run_module(*this, &Name##Impl::convolve_transposed, input, output_size);                \
  }                                                                                                \
  template class ConvNdImpl<D, Name##Impl>;                                                        \
  template class ConvTransposeNdImpl<D, Name##Impl>;
HEARTH_DEFINE_CONV_TRANSPOSE(ConvTranspose1d, 1)
HEARTH_DEFINE_CONV_TRANSPOSE(ConvTranspose2d, 2)
HEARTH_DEFINE_CONV_TRANSPOSE(ConvTranspose3d, 3)

}  // namespace hearth::nn
