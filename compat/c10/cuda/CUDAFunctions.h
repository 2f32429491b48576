#pragma once

#include "c10/namespaces.h"
#include "hearth/cuda.h"
#include "hearth/error.h"

namespace hearth::cuda {

/// Waits for all work on the current device.
inline void device_synchronize() { synchronize(); }
/// The number of GPUs; throws if there is none.
inline DeviceIndex device_count_ensure_non_zero() {
  HEARTH_CHECK(is_available(), "No CUDA GPUs are available: ", why_not());
  return static_cast<DeviceIndex>(device_count());
}
/// Makes a device the current one and returns the former one.
inline DeviceIndex ExchangeDevice(DeviceIndex device) {
  const auto former = static_cast<DeviceIndex>(current_device());
  set_device(device);
  return former;
}
/// In LibTorch, these create no context on the device. In Hearth, the first work does.
inline DeviceIndex MaybeExchangeDevice(DeviceIndex device) { return ExchangeDevice(device); }
inline void MaybeSetDevice(DeviceIndex device) { set_device(int{device}); }

}  // namespace hearth::cuda
