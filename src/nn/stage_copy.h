#pragma once

#include "hearth/tensor.h"

namespace hearth::nn {

/// The tensor on another device, copied on streams that are used for copies only, so that kernels
/// that were launched before or later on the current streams overlap with it. The gradient is
/// copied back in the same way. On its own device, the tensor itself.
Tensor copy_to_stage(const Tensor& tensor, Device device);

}  // namespace hearth::nn
