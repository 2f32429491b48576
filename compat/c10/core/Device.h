#pragma once

#include <functional>

#include "c10/core/DeviceType.h"

template <>
struct std::hash<hearth::Device> {
  size_t operator()(hearth::Device device) const noexcept {
    return static_cast<size_t>(device.type()) << 8 | static_cast<uint8_t>(device.index());
  }
};
