#pragma once

#include "c10/namespaces.h"
#include "hearth/cuda.h"

namespace hearth::cuda {

using CUDAStream = Stream;
inline CUDAStream getCurrentCUDAStream(DeviceIndex device = -1) { return current_stream(device); }
inline CUDAStream getDefaultCUDAStream(DeviceIndex device = -1) { return default_stream(device); }
inline void setCurrentCUDAStream(const CUDAStream& stream) { set_stream(stream); }
inline CUDAStream getStreamFromPool(bool high_priority = false, DeviceIndex device = -1) {
  return CUDAStream(Device(DeviceType::CUDA, device), high_priority ? -1 : 0);
}

}  // namespace hearth::cuda
