#pragma once

#include "ATen/cuda/CUDAContext.h"

namespace hearth::cuda {
/// Whether copies between the devices need not pass through the host.
inline bool get_p2p_access(DeviceIndex source, DeviceIndex destination) {
  return can_device_access_peer(source, destination);
}
}  // namespace hearth::cuda
