#pragma once

#include "core/op.h"

namespace hearth {

/// Whether a tensor of 4 or 5 dimensions is channels_last and not also contiguous.
bool is_channels_last(const TensorImpl& tensor);

/// Output i, channels_last if asked, else contiguous: what is not elementwise keeps its input's
/// format so.
void set_in_format(InferContext& context, int i, IntArrayRef sizes, ScalarType dtype,
                   bool channels_last);

}  // namespace hearth
