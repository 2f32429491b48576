#pragma once

#include <string>

#include "hearth/device.h"
#include "seam/backend.h"

namespace hearth {

/// The backend of the CPU, which always exists.
Backend& cpu_backend();

/// The backend of DeviceType::CUDA: the simulator if HEARTH_SIM_GPUS is set, else the plugin, which
/// the first call loads. Null if neither is available.
Backend* cuda_backend();
/// Like cuda_backend(), but null until cuda_backend() has been called.
Backend* cuda_backend_in_use();
/// A sentence that says why cuda_backend() is null.
const std::string& why_no_cuda();

/// The backend of a device; throws if the device does not exist.
Backend& backend_of(Device device);
/// Whether the device has this kernel; true for the meta device, where ops run no kernels.
inline bool has_kernel(Device device, KernelId id) {
  return device.is_meta() || backend_of(device).has_kernel(id);
}

}  // namespace hearth
