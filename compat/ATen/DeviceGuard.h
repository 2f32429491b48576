#pragma once

#include <optional>

#include "ATen/core/Tensor.h"
#include "c10/core/DeviceGuard.h"

namespace hearth {

/// The device of a tensor, or of a list's first tensor, for a guard; none if it is undefined.
inline std::optional<Device> device_of(const Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor.device()) : std::nullopt;
}
inline std::optional<Device> device_of(const std::optional<Tensor>& tensor) {
  return tensor ? device_of(*tensor) : std::nullopt;
}
inline std::optional<Device> device_of(TensorList tensors) {
  return tensors.empty() ? std::nullopt : device_of(tensors[0]);
}

}  // namespace hearth
