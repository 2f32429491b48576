#pragma once

#include "core/op.h"

namespace hearth {

/// A view for kernels that want contiguous memory: the view itself or a copy in scratch memory.
View dense(LaunchContext& context, const View& view);

}  // namespace hearth
