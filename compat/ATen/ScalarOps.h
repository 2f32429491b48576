#pragma once

#include "ATen/ATen.h"

namespace hearth {

/// A tensor without dimensions: of int64, float64, complex128 or bool.
inline Tensor scalar_to_tensor(const Scalar& value, const Device& device = kCPU) {
  return scalar_tensor(value, TensorOptions(value.type()).device(device));
}

}  // namespace hearth
