#pragma once

#include <string>

#include "hearth/device.h"

namespace hearth::io {

/// Throws PyTorch's error if `device` is a GPU and there is none; `name` is the value that was
/// saved on the device, or its file.
void check_reachable(const std::string& name, Device device);

}  // namespace hearth::io
