#pragma once

#include <string>

#include "seam/backend.h"

namespace hearth {

/// Loads the plugin and returns its backend. The plugin is the file named by HEARTH_CUDA_PLUGIN, or
/// libhearth_cuda.so beside this library or on the system's library path. On failure returns null,
/// with the reason as a sentence in `why_not`.
Backend* load_cuda_plugin(std::string& why_not);

}  // namespace hearth
