#pragma once

#include "seam/range_marker.h"

namespace hearth::cuda {

/// NVTX; null if the plugin was built without its headers.
const RangeMarker* nvtx_marker();

}  // namespace hearth::cuda
