#pragma once

#include "core/arguments.h"
#include "core/tensor_impl.h"

namespace hearth {

/// The arguments of a convolution; the lists have an element per spatial dimension.
struct ConvArgs {
  Dims stride, padding, dilation, output_padding;
  bool transposed;
  int64_t groups;
  HEARTH_FIELDS(stride, padding, dilation, output_padding, transposed, groups)
};

/// The arguments, with single numbers repeated for each spatial dimension of weight.
ConvArgs fitted(const ConvArgs& args, const Tensor& weight);

/// Throws PyTorch's errors for invalid arguments and sizes. bias may be null.
void check_conv(const ConvArgs& args, const TensorImpl& input, const TensorImpl& weight,
                const TensorImpl* bias);
/// Throws PyTorch's errors if dtypes differ. bias may be undefined.
void check_conv_types(const Tensor& input, const Tensor& weight, const Tensor& bias);

/// Convolves integers; sums and products that overflow wrap around.
Tensor convolve_integers(const ConvArgs& args, const Tensor& input, const Tensor& weight,
                         const Tensor& bias);

/// The sizes of the output.
Dims conv_sizes(const ConvArgs& args, IntArrayRef input, IntArrayRef weight);

}  // namespace hearth
