#pragma once

#include "hearth/tensor.h"

namespace hearth::serialize {

/// Whether loading may restore these strides: elements overlap only in expanded dimensions, and the
/// gaps are small enough that a small file cannot need much memory.
bool can_keep_strides(IntArrayRef sizes, IntArrayRef strides);

/// A copy with these strides, for which can_keep_strides holds.
Tensor copy_with_strides(const Tensor& tensor, IntArrayRef strides);

}  // namespace hearth::serialize
