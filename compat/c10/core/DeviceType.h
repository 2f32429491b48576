#pragma once

#include "c10/namespaces.h"
#include "hearth/device.h"

namespace c10 {
inline bool isValidDeviceType(DeviceType type) {
  return type == kCPU || type == kCUDA || type == kMeta;
}
}  // namespace c10
