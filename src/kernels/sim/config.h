#pragma once

#include <cstddef>

namespace hearth::sim {

/// Number and properties of the simulated GPUs.
struct Config {
  int devices = 0;
  size_t memory = size_t{8} << 30;  // bytes per device
  bool lazy = false;                // streams run work only when a synchronisation needs it
};

/// Reads HEARTH_SIM_GPUS and, unless it is unset or empty, HEARTH_SIM_GPU_MEMORY and
/// HEARTH_SIM_LAZY; without it or with 0, there are no devices. Throws an Error if a value is
/// invalid.
Config config_from_environment();

}  // namespace hearth::sim
