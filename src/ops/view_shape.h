#pragma once

#include <optional>

#include "core/tensor_impl.h"

namespace hearth {

/// Fills in a -1; "shape '[2, -1]' is invalid for input of size 5" if the sizes do not fit.
Dims infer_sizes(IntArrayRef wanted, int64_t numel);

/// The strides that show the same elements at other sizes, if there are any.
std::optional<Dims> view_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef wanted);

}  // namespace hearth
