#pragma once

#include "hearth/tensor.h"

namespace hearth::serialize {

/// Whether a file's tensor can get these strides again: its elements overlap in expanded dimensions
/// only, and do not lie so far apart that a small file would take much memory.
bool can_keep_strides(IntArrayRef sizes, IntArrayRef strides);

/// A copy with these strides, for which can_keep_strides holds.
Tensor copy_with_strides(const Tensor& tensor, IntArrayRef strides);

}  // namespace hearth::serialize
