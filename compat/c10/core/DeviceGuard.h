#pragma once

#include <optional>

#include "c10/namespaces.h"
#include "hearth/cuda.h"

namespace c10 {

/// Makes a CUDA device the current one during the guard's lifetime; does nothing for the CPU.
class DeviceGuard {
 public:
  explicit DeviceGuard(Device device)
      : guard_(device.is_cuda() ? std::optional(device) : std::nullopt) {}

 private:
  hearth::cuda::OptionalDeviceGuard guard_;
};

/// A DeviceGuard for an optional device; without a device, it does nothing.
class OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }

 private:
  std::optional<DeviceGuard> guard_;
};

}  // namespace c10

namespace at {
using c10::DeviceGuard;
using c10::OptionalDeviceGuard;
}  // namespace at
namespace torch {
using c10::DeviceGuard;
using c10::OptionalDeviceGuard;
}  // namespace torch
