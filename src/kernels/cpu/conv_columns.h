#pragma once

#include "seam/conv.h"

namespace hearth::cpu {

/// Computes a convolution, or one of its gradients, of contiguous float32 or float64 tensors as
/// matrix products (im2col): the windows of one image are laid out as a column matrix, a block of
/// output rows at a time.
void conv_by_columns(const ConvParams& params, Ctx& ctx);

}  // namespace hearth::cpu
