#pragma once

#include "c10/namespaces.h"
#include "hearth/device.h"

namespace hearth {
inline constexpr DeviceType kHIP = DeviceType::HIP;
inline constexpr DeviceType kFPGA = DeviceType::FPGA;
inline constexpr DeviceType kMAIA = DeviceType::MAIA;
inline constexpr DeviceType kXLA = DeviceType::XLA;
inline constexpr DeviceType kMPS = DeviceType::MPS;
inline constexpr DeviceType kVulkan = DeviceType::Vulkan;
inline constexpr DeviceType kMetal = DeviceType::Metal;
inline constexpr DeviceType kXPU = DeviceType::XPU;
inline constexpr DeviceType kHPU = DeviceType::HPU;
inline constexpr DeviceType kVE = DeviceType::VE;
inline constexpr DeviceType kLazy = DeviceType::Lazy;
inline constexpr DeviceType kIPU = DeviceType::IPU;
inline constexpr DeviceType kMTIA = DeviceType::MTIA;
inline constexpr DeviceType kPrivateUse1 = DeviceType::PrivateUse1;
}  // namespace hearth

namespace c10 {
inline bool isValidDeviceType(DeviceType type) {
  return type >= kCPU && type <= DeviceType::PrivateUse1;
}
constexpr int COMPILE_TIME_MAX_DEVICE_TYPES = static_cast<int>(DeviceType::PrivateUse1) + 1;
}  // namespace c10
