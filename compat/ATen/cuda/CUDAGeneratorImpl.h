#pragma once

#include "ATen/Context.h"
#include "ATen/core/Generator.h"

namespace hearth::cuda::detail {

/// The generator of a GPU that ops use by default.
inline const Generator& getDefaultCUDAGenerator(DeviceIndex device_index = -1) {
  return default_generator(Device(DeviceType::CUDA, device_index));
}
/// A new generator of a GPU.
inline Generator createCUDAGenerator(DeviceIndex device_index = -1) {
  return make_generator(Device(DeviceType::CUDA, device_index));
}

}  // namespace hearth::cuda::detail
