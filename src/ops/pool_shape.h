#pragma once

#include "core/arguments.h"
#include "core/tensor_impl.h"
#include "seam/pool.h"

namespace hearth {

/// The arguments of pooling in two dimensions; kernel is the output's size of adaptive kinds.
struct PoolArgs {
  Dims kernel, stride, padding, dilation;
  bool ceil_mode, count_include_pad;
  int64_t divisor;  // 0: the number of elements
  HEARTH_FIELDS(kernel, stride, padding, dilation, ceil_mode, count_include_pad, divisor)
};

/// The arguments of max_pool2d or avg_pool2d from lists of one or two numbers.
PoolArgs pool_args(const char* op, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                   IntArrayRef dilation, bool ceil_mode);
/// The arguments of one dimension, for two of which the first has size 1.
PoolArgs pool_args_1d(const char* op, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                      IntArrayRef dilation, bool ceil_mode);
/// The arguments of adaptive pooling.
PoolArgs adaptive_args(IntArrayRef output_size);

/// The windows over an input of sizes [(N,) C, H, W]; throws PyTorch's errors.
PoolShape pool_shape(PoolKind kind, const char* op, const PoolArgs& args, IntArrayRef input);

}  // namespace hearth
