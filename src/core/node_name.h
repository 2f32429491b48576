#pragma once

#include <string>

#include "functors/hd.h"

namespace hearth {

/// The name of the node that a recorded call of an op creates: "MulBackward0".
std::string node_name(const OpInfo& info);

}  // namespace hearth
