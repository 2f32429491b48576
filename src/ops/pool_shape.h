#pragma once

#include "core/arguments.h"
#include "core/tensor_impl.h"
#include "seam/pool.h"

namespace hearth {

/// The arguments of pooling in two or three dimensions; for adaptive kinds, kernel is the output
/// size.
struct PoolArgs {
  Dims kernel, stride, padding, dilation;
  bool ceil_mode, count_include_pad;
  int64_t divisor;  // 0: the number of elements of the window
  HEARTH_FIELDS(kernel, stride, padding, dilation, ceil_mode, count_include_pad, divisor)
};

/// Converts lists of one or `spatial` numbers to the arguments of an op in `spatial` dimensions.
PoolArgs pool_args(const char* op, size_t spatial, IntArrayRef kernel, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation, bool ceil_mode);
/// The arguments of 1-D pooling as 2-D pooling of one row.
PoolArgs pool_args_1d(const char* op, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                      IntArrayRef dilation, bool ceil_mode);
/// Throws PyTorch's error if a dimension after the first of adaptive pooling's gradient is empty.
void check_gradient_not_empty(const char* op, IntArrayRef sizes);

/// The arguments of adaptive pooling.
PoolArgs adaptive_args(IntArrayRef output_size);

/// The windows over an input of sizes [(N,) C, (D,) H, W]; throws PyTorch's errors.
PoolShape pool_shape(PoolKind kind, const char* op, const PoolArgs& args, IntArrayRef input);

/// The sizes of the output; the last `spatial` dimensions are pooled.
Dims pooled_sizes(const PoolShape& shape, size_t spatial, IntArrayRef input);

/// Throws unless the dimensions from `first` on have elements: "op(): Expected input to have …".
void check_not_empty(const char* op, IntArrayRef sizes, size_t first);

/// Views a tensor of sizes [(N,) C, (D,) H, W] as [N, C, D, H, W], for the kernels.
View as_volumes(const View& view, size_t spatial);

}  // namespace hearth
