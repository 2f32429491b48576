#pragma once

#include <string>

#include "hearth/device.h"

namespace hearth::io {

/// Throws PyTorch's error if a value was saved on a GPU and there is none.
void check_reachable(const std::string& name, Device device);

}  // namespace hearth::io
