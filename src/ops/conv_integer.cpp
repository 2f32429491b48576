// Convolutions of integers by exact matrix products; the float kernels would round.
#include "hearth/operators.h"
#include "ops/conv_shape.h"

namespace hearth {

namespace {

/// Inserts stride - 1 zeros between the elements of each spatial dimension.
Tensor spaced(const Tensor& input, const Dims& stride) {
  Dims sizes(input.sizes());
  for (size_t d = 0; d < stride.size(); ++d)
    sizes[d + 2] = sizes[d + 2] == 0 ? 0 : (sizes[d + 2] - 1) * stride[d] + 1;
  const Tensor result = zeros(sizes, input.options());
  Tensor elements = result;
  for (size_t d = 0; d < stride.size(); ++d)
    elements = elements.slice(int64_t(d) + 2, {}, {}, stride[d]);
  elements.copy_(input);
  return result;
}

/// Pads each spatial dimension with zeros; negative padding crops.
Tensor padded(const Tensor& input, const Dims& before, const Dims& after) {
  Dims padding;
  for (size_t d = before.size(); d-- > 0;) {
    padding.push_back(before[d]);
    padding.push_back(after[d]);
  }
  return input.constant_pad_nd(padding);
}

/// Returns all windows of the input as a view: [batch, channels, positions…, kernel…].
Tensor windows(Tensor input, IntArrayRef kernel, const Dims& stride, const Dims& dilation) {
  for (size_t d = 0; d < kernel.size(); ++d) {
    input = input.unfold(int64_t(d) + 2, dilation[d] * (kernel[d] - 1) + 1, stride[d]);
    input = input.slice(-1, {}, {}, dilation[d]);
  }
  return input;
}

/// Multiplies all windows by weight [out channels, channels / groups, kernel…]; `sizes` are those
/// of the result.
Tensor products(const Tensor& input, const Tensor& weight, const Dims& stride, const Dims& dilation,
                int64_t groups, IntArrayRef sizes) {
  const int64_t batch = input.size(0), group_channels = weight.size(1);
  const int64_t group_outs = weight.size(0) / groups;
  int64_t kernel_elements = 1, positions = 1;
  for (size_t d = 2; d < sizes.size(); ++d) {
    kernel_elements *= weight.sizes()[d];
    positions *= sizes[d];
  }
  const Tensor rows = windows(input, weight.sizes().slice(2), stride, dilation)
                          .reshape({batch, groups, group_channels, positions, kernel_elements})
                          .permute({0, 1, 3, 2, 4})
                          .reshape({batch, groups, positions, group_channels * kernel_elements});
  const Tensor columns =
      weight.reshape({groups, group_outs, group_channels * kernel_elements}).transpose(1, 2);
  return rows.matmul(columns).transpose(2, 3).contiguous().reshape(sizes);
}

/// Converts the weight of a transposed convolution to the weight of the equivalent plain
/// convolution: [out channels, channels / groups, kernel…], with the kernel reversed.
Tensor plain_weight(const Tensor& weight, int64_t groups) {
  const int64_t group_channels = weight.size(0) / groups, group_outs = weight.size(1);
  Dims split{groups, group_channels, group_outs}, sizes{groups * group_outs, group_channels},
      kernel_dims;
  for (int64_t d = 2; d < weight.dim(); ++d) {
    split.push_back(weight.size(d));
    sizes.push_back(weight.size(d));
    kernel_dims.push_back(d);
  }
  return weight.flip(kernel_dims).reshape(split).transpose(1, 2).reshape(sizes);
}

/// The transposed convolution, as a plain one of the spaced input.
Tensor transposed(const ConvArgs& args, const Tensor& input, const Tensor& weight,
                  IntArrayRef sizes) {
  Dims before, after;
  for (size_t d = 0; d < args.stride.size(); ++d) {
    before.push_back(args.dilation[d] * (weight.sizes()[d + 2] - 1) - args.padding[d]);
    after.push_back(before[d] + args.output_padding[d]);
  }
  const Tensor plain_input = padded(spaced(input, args.stride), before, after);
  return products(plain_input, plain_weight(weight, args.groups), Dims(args.stride.size(), 1),
                  args.dilation, args.groups, sizes);
}

}  // namespace

Tensor convolve_integers(const ConvArgs& args, const Tensor& input, const Tensor& weight,
                         const Tensor& bias) {
  check_conv(args, impl_of(input), impl_of(weight), bias.defined() ? &impl_of(bias) : nullptr);
  const Dims sizes = conv_sizes(args, input.sizes(), weight.sizes());
  Tensor result;
  if (input.numel() == 0 || weight.numel() == 0)
    result = zeros(sizes, input.options());
  else if (args.transposed)
    result = transposed(args, input, weight, sizes);
  else
    result = products(padded(input, args.padding, args.padding), weight, args.stride, args.dilation,
                      args.groups, sizes);
  if (!bias.defined()) return result;
  Dims shape(sizes.size(), 1);
  shape[1] = bias.numel();
  return result.add(bias.reshape(shape));
}

}  // namespace hearth
