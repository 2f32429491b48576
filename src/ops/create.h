#pragma once

#include "hearth/tensor.h"

namespace hearth {

/// The device with its index filled in; throws if there is no such device.
Device resolve_device(Device device);

/// The options for a `*_like` function: those of `self`, overridden.
TensorOptions like_options(const Tensor& self, const TensorOptions& options);

}  // namespace hearth
