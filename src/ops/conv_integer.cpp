// Convolutions of integers by exact matrix products; the float kernels would round.
#include "hearth/operators.h"
#include "ops/conv_shape.h"

namespace hearth {

namespace {

/// The input with zeros between its elements: stride - 1 in each spatial dimension.
Tensor spaced(const Tensor& input, const Dims& stride) {
  Dims sizes(input.sizes());
  for (size_t d = 0; d < stride.size(); ++d)
    sizes[d + 2] = sizes[d + 2] == 0 ? 0 : (sizes[d + 2] - 1) * stride[d] + 1;
  const Tensor result = zeros(sizes, input.options());
  Tensor places = result;
  for (size_t d = 0; d < stride.size(); ++d)
    places = places.slice(int64_t(d) + 2, {}, {}, stride[d]);
  places.copy_(input);
  return result;
}

/// The input with zeros before and after each spatial dimension; negative margins cut off.
Tensor with_margin(const Tensor& input, const Dims& before, const Dims& after) {
  Dims padding;
  for (size_t d = before.size(); d-- > 0;) {
    padding.push_back(before[d]);
    padding.push_back(after[d]);
  }
  return input.constant_pad_nd(padding);
}

/// All windows on the input: [batch, channels, positions…, kernel…].
Tensor windows(Tensor input, IntArrayRef kernel, const Dims& stride, const Dims& dilation) {
  for (size_t d = 0; d < kernel.size(); ++d) {
    input = input.unfold(int64_t(d) + 2, dilation[d] * (kernel[d] - 1) + 1, stride[d]);
    input = input.slice(-1, {}, {}, dilation[d]);
  }
  return input;
}

/// The products of all windows with weight [out channels, channels / groups, kernel…].
Tensor products(const Tensor& input, const Tensor& weight, const Dims& stride, const Dims& dilation,
                int64_t groups, IntArrayRef sizes) {
  const int64_t batch = input.size(0), channels = weight.size(1);
  const int64_t outs = weight.size(0) / groups;
  int64_t taps = 1, positions = 1;
  for (size_t d = 2; d < sizes.size(); ++d) {
    taps *= weight.sizes()[d];
    positions *= sizes[d];
  }
  const Tensor rows = windows(input, weight.sizes().slice(2), stride, dilation)
                          .reshape({batch, groups, channels, positions, taps})
                          .permute({0, 1, 3, 2, 4})
                          .reshape({batch, groups, positions, channels * taps});
  const Tensor columns = weight.reshape({groups, outs, channels * taps}).transpose(1, 2);
  return rows.matmul(columns).transpose(2, 3).contiguous().reshape(sizes);
}

/// The weight of a transposed convolution as that of a plain one: [out channels, channels / groups,
/// kernel…], the kernel reversed.
Tensor turned(const Tensor& weight, int64_t groups) {
  const int64_t channels = weight.size(0) / groups, outs = weight.size(1);
  Dims split{groups, channels, outs}, sizes{groups * outs, channels}, kernel_dims;
  for (int64_t d = 2; d < weight.dim(); ++d) {
    split.push_back(weight.size(d));
    sizes.push_back(weight.size(d));
    kernel_dims.push_back(d);
  }
  return weight.flip(kernel_dims).reshape(split).transpose(1, 2).reshape(sizes);
}

Tensor transposed(const ConvArgs& args, const Tensor& input, const Tensor& weight,
                  IntArrayRef sizes) {
  Dims before, after;
  for (size_t d = 0; d < args.stride.size(); ++d) {
    before.push_back(args.dilation[d] * (weight.sizes()[d + 2] - 1) - args.padding[d]);
    after.push_back(before[d] + args.output_padding[d]);
  }
  const Tensor spread = with_margin(spaced(input, args.stride), before, after);
  return products(spread, turned(weight, args.groups), Dims(args.stride.size(), 1), args.dilation,
                  args.groups, sizes);
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
    result = products(with_margin(input, args.padding, args.padding), weight, args.stride,
                      args.dilation, args.groups, sizes);
  if (!bias.defined()) return result;
  Dims shape(sizes.size(), 1);
  shape[1] = bias.numel();
  return result.add(bias.reshape(shape));
}

}  // namespace hearth
