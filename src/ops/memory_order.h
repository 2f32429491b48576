#pragma once

#include "core/op.h"

namespace hearth {

/// Dimensions from the innermost to the outermost in memory. Two dimensions are compared by the
/// first operand that decides (PyTorch's rule): the larger stride or, if the strides are equal, the
/// larger size is the outer one. A stride of 0 (a broadcast dimension) decides nothing.
Dims memory_order(IntArrayRef sizes, const Dims* strides, int num_operands);

/// The strides of a tensor without gaps whose dimensions have the operands' memory order.
Dims packed_strides(IntArrayRef sizes, const Dims* strides, int num_operands);

/// Whether an input is not contiguous, so that its memory order matters.
bool any_noncontiguous(const InferContext& context);

/// Sets an output's strides in the memory order of its operands: channels_last is kept.
void keep_memory_order(InferContext::Output& out, const Dims* strides, int num_operands);

}  // namespace hearth
