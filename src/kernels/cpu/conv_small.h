#pragma once

#include "seam/conv.h"

namespace hearth::cpu {

/// Whether conv_small() is expected to be the fastest for a convolution of this shape.
bool suits_conv_small(const ConvParams& params);

/// Computes a convolution, or one of its gradients, of contiguous float32 tensors with one group
/// and one or two spatial dimensions directly, without matrices.
void conv_small(const ConvParams& params, Ctx& ctx);

}  // namespace hearth::cpu
