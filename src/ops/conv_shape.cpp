#include "ops/conv_shape.h"

#include <algorithm>

#include "ops/dtype_text.h"

namespace hearth {

namespace {

Dims expanded(const Dims& values, const char* name, size_t num_dims) {
  HEARTH_CHECK(values.size() == 1 || values.size() == num_dims, "expected ", name,
               " to be a single integer value or a list of ", num_dims,
               " values to match the convolution dimensions, but got ", name, "=", values);
  return values.size() == num_dims ? values : Dims(num_dims, values[0]);
}

bool any_below(const Dims& values, int64_t limit) {
  return std::any_of(values.begin(), values.end(), [=](int64_t v) { return v < limit; });
}

bool any_above(const Dims& values, int64_t limit) {
  return std::any_of(values.begin(), values.end(), [=](int64_t v) { return v > limit; });
}

/// Returns "(2 x 3)".
std::string joined(IntArrayRef values) {
  std::string text;
  for (const int64_t value : values) text += (text.empty() ? "" : " x ") + detail::str(value);
  return "(" + text + ")";
}

/// Returns " name_height: 1 name_width: 2", with a depth for three dimensions; a single dimension
/// is the width, and `missing` the height.
std::string with_axis_names(const char* name, Dims values, int64_t missing) {
  static constexpr const char* kAxes[] = {"depth", "height", "width"};
  if (values.size() == 1) values.insert(0, missing);
  std::string text;
  for (size_t d = 0; d < values.size(); ++d)
    text += detail::str(" ", name, "_", kAxes[3 - values.size() + d], ": ", values[d]);
  return text;
}

void check_numbers(const ConvArgs& args) {
  HEARTH_CHECK(!any_below(args.padding, 0), "negative padding is not supported");
  HEARTH_CHECK(!any_below(args.output_padding, 0), "negative output_padding is not supported");
  HEARTH_CHECK(!any_below(args.stride, 1), "non-positive stride is not supported");
  HEARTH_CHECK(args.groups > 0, "non-positive groups is not supported");
  for (size_t d = 0; d < args.padding.size(); ++d)
    HEARTH_CHECK(args.padding[d] <= INT64_MAX / 2, "Given padding=", args.padding[d],
                 " at dimension ", d, " , expected padding to be at most ", INT64_MAX / 2);
  // Products with sizes must not overflow.
  const bool fits = !any_above(args.dilation, INT32_MAX) &&
                    !(args.transposed && any_above(args.stride, INT32_MAX));
  HEARTH_CHECK(fits, "value cannot be converted to type int without overflow (stride=", args.stride,
               ", dilation=", args.dilation, ")");
  Dims dilation = args.dilation;
  if (dilation.size() == 1) dilation.insert(0, 1);
  HEARTH_CHECK(!any_below(dilation, 1), "dilation should be greater than zero, but got ", dilation);
}

void check_channels(const ConvArgs& args, const TensorImpl& input, const TensorImpl& weight) {
  const IntArrayRef sizes = weight.sizes();
  HEARTH_CHECK(input.dim == weight.dim, "Expected ", int(weight.dim), "-dimensional input for ",
               int(weight.dim), "-dimensional weight ", sizes, ", but got ", int(input.dim),
               "-dimensional input of size ", input.sizes(), " instead");
  HEARTH_CHECK(sizes[0] >= args.groups, "Given groups=", args.groups,
               ", expected weight to be at least ", args.groups,
               " at dimension 0, but got weight of size ", sizes, " instead");
  HEARTH_CHECK(sizes[0] % args.groups == 0, "Given groups=", args.groups,
               ", expected weight to be divisible by ", args.groups,
               " at dimension 0, but got weight of size [", sizes, "] instead");
  const int64_t channels = input.sizes()[1];
  if (args.transposed)
    HEARTH_CHECK(channels == sizes[0], "Given transposed=1, weight of size ", sizes,
                 ", expected input", input.sizes(), " to have ", sizes[0], " channels, but got ",
                 channels, " channels instead");
  else
    HEARTH_CHECK(channels == sizes[1] * args.groups, "Given groups=", args.groups,
                 ", weight of size ", sizes, ", expected input", input.sizes(), " to have ",
                 sizes[1] * args.groups, " channels, but got ", channels, " channels instead");
}

void check_bias(const ConvArgs& args, const TensorImpl& weight, const TensorImpl& bias) {
  const int64_t wanted = args.transposed ? weight.sizes()[1] * args.groups : weight.sizes()[0];
  HEARTH_CHECK(bias.dim == 1 && bias.numel == wanted, "Given ",
               args.transposed ? "transposed=1, " : "", "weight of size ", weight.sizes(),
               ", expected bias to be 1-dimensional with ", wanted,
               " elements, but got bias of size ", bias.sizes(), " instead");
}

/// Throws unless the kernel fits into the padded input.
void check_fits(const ConvArgs& args, IntArrayRef input, IntArrayRef weight) {
  Dims padded, kernel;
  bool fits = true;
  for (size_t d = 0; d < args.stride.size(); ++d) {
    padded.push_back(input[d + 2] + 2 * args.padding[d]);
    kernel.push_back(args.dilation[d] * (weight[d + 2] - 1) + 1);
    fits &= padded[d] >= kernel[d];
  }
  HEARTH_CHECK(fits, "Calculated padded input size per channel: ", joined(padded),
               ". Kernel size: ", joined(kernel),
               ". Kernel size can't be greater than actual input size");
}

void check_output_padding(const ConvArgs& args) {
  bool is_smaller = true;
  for (size_t d = 0; d < args.stride.size(); ++d)
    is_smaller &= args.output_padding[d] < std::max(args.stride[d], args.dilation[d]);
  HEARTH_CHECK(is_smaller, "output padding must be smaller than either stride or dilation, but got",
               with_axis_names("output_padding", args.output_padding, 0),
               with_axis_names("stride", args.stride, 1),
               with_axis_names("dilation", args.dilation, 1));
}

void check_spatial(const ConvArgs& args, IntArrayRef input, IntArrayRef weight) {
  if (!args.transposed) check_fits(args, input, weight);
  const IntArrayRef kernel = weight.slice(2), size = input.slice(2);
  if (any_below(kernel, 1)) {
    if (kernel.size() == 3)
      detail::fail<Error>("kernel size should be greater than zero, but got: ", kernel[0], " x ",
                          kernel[1], " x ", kernel[2], " (TxHxW)");
    detail::fail<Error>("kernel size should be greater than zero, but got",
                        with_axis_names("kernel", kernel, 1));
  }
  HEARTH_CHECK(
      !any_below(size, 1),
      "Only zero batch or zero channel inputs are supported, but got input shape: ", input);
  if (!args.transposed) return;
  check_output_padding(args);
  const Dims out = conv_sizes(args, input, weight);
  HEARTH_CHECK(!any_below(IntArrayRef(out).slice(2), 1),
               "Given input size per channel: ", joined(size),
               ". Calculated output size per channel: ", joined(IntArrayRef(out).slice(2)),
               ". Output size is too small");
}

}  // namespace

ConvArgs fitted(const ConvArgs& args, const Tensor& weight) {
  HEARTH_CHECK(weight.dim() >= 3, "weight should have at least three dimensions");
  const size_t spatial = size_t(weight.dim() - 2);
  return {expanded(args.stride, "stride", spatial),
          expanded(args.padding, "padding", spatial),
          expanded(args.dilation, "dilation", spatial),
          expanded(args.output_padding, "output_padding", spatial),
          args.transposed,
          args.groups};
}

void check_conv(const ConvArgs& args, const TensorImpl& input, const TensorImpl& weight,
                const TensorImpl* bias) {
  HEARTH_CHECK(weight.dim <= 5, "weight should have at most five dimensions, but got ",
               int(weight.dim));
  check_numbers(args);
  check_channels(args, input, weight);
  if (bias) check_bias(args, weight, *bias);
  check_spatial(args, input.sizes(), weight.sizes());
}

void check_conv_types(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  if (!input.defined()) return;
  HEARTH_CHECK(!weight.defined() || input.scalar_type() == weight.scalar_type(),
               "expected scalar type ", name_of(input.scalar_type()), " but found ",
               name_of(weight.scalar_type()),
               dtypes_text("input", impl_of(input), "weight", impl_of(weight)));
  HEARTH_CHECK(!bias.defined() || input.scalar_type() == bias.scalar_type(), "Input type (",
               TypeMeta(input.scalar_type()).name(), ") and bias type (",
               TypeMeta(bias.scalar_type()).name(), ") should be the same",
               dtypes_text("input", impl_of(input), "bias", impl_of(bias)));
}

Dims conv_sizes(const ConvArgs& args, IntArrayRef input, IntArrayRef weight) {
  Dims sizes{input[0], args.transposed ? weight[1] * args.groups : weight[0]};
  if (!args.transposed && input[1] == 0) sizes[1] = 0;  // as in PyTorch, even if there is a bias
  for (size_t d = 0; d < args.stride.size(); ++d) {
    const int64_t reach = args.dilation[d] * (weight[d + 2] - 1);
    sizes.push_back(args.transposed
                        ? (input[d + 2] - 1) * args.stride[d] - 2 * args.padding[d] + reach +
                              args.output_padding[d] + 1
                        : (input[d + 2] + 2 * args.padding[d] - reach - 1) / args.stride[d] + 1);
  }
  return sizes;
}

}  // namespace hearth
