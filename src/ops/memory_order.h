#pragma once

#include "core/op.h"

namespace hearth {

/// Dimensions from the innermost to the outermost in memory, by the first operand whose strides
/// decide (PyTorch's rule); at equal strides, the larger size is outside. Stride 0 (a broadcast
/// dimension) decides nothing.
Dims memory_order(IntArrayRef sizes, const Dims* strides, int num_operands);

/// Strides without gaps in the operands' memory order.
Dims packed_strides(IntArrayRef sizes, const Dims* strides, int num_operands);

/// Whether an input is not contiguous, so that its memory order matters.
bool any_permuted(const InferContext& context);

/// Sets an output's strides in the memory order of its operands: channels_last is kept.
void keep_memory_order(InferContext::Output& out, const Dims* strides, int num_operands);

}  // namespace hearth
