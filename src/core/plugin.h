#pragma once

#include <string>

#include "seam/backend.h"

namespace hearth {

/// The backend in the plugin libhearth_cuda.so, searched at $HEARTH_CUDA_PLUGIN, or else beside
/// this library and where the system looks for libraries. Null with a sentence in `why_not` when
/// that fails.
Backend* load_cuda_plugin(std::string& why_not);

}  // namespace hearth
