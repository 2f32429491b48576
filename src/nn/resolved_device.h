#pragma once

#include <vector>

#include "hearth/cuda.h"

namespace hearth::nn::detail {

/// The device with its index: "cuda" is the current GPU.
inline Device resolved(Device device) {
  if (!device.is_cuda() || device.has_index()) return device;
  return Device(DeviceType::CUDA, DeviceIndex(cuda::current_device()));
}
inline std::vector<Device> resolved(std::vector<Device> devices) {
  for (Device& device : devices) device = resolved(device);
  return devices;
}

}  // namespace hearth::nn::detail
