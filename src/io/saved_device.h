#pragma once

#include <string>

#include "hearth/device.h"

namespace hearth::io {

/// Throws PyTorch's error if `device`, for the saved value `name`, is a GPU and there is none.
void check_reachable(const std::string& name, Device device);

}  // namespace hearth::io
