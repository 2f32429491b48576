#pragma once

#include "hearth/cuda.h"

namespace hearth::app {

/// Simulated GPUs (HEARTH_SIM_GPUS) have no compute capability.
inline bool is_simulated(const cuda::DeviceProperties& gpu) { return gpu.major == 0; }

}  // namespace hearth::app
