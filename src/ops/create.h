#pragma once

#include "hearth/tensor.h"

namespace hearth {

/// The device with its index filled in; throws if there is no such device.
Device resolve_device(Device device);

/// The dtype, if it is one that elements can have.
ScalarType resolve_dtype(ScalarType dtype);

/// The options for a `*_like` function: those of `self`, overridden.
TensorOptions like_options(const Tensor& self, const TensorOptions& options);

/// A bound of linspace or logspace that is given as a tensor of one number.
Scalar bound_of(const Tensor& bound, const char* op);

/// A new tensor with its values: unmodified so far, an inference tensor under inference mode, a
/// leaf if asked.
Tensor finish_new(Tensor tensor, const TensorOptions& options);

}  // namespace hearth
