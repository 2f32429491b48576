#pragma once

namespace hearth {

class Backend;

namespace sim {

/// The simulator that the environment variable HEARTH_SIM_GPUS requests, or null; lives until the
/// process ends. Defined in kernels/sim.
Backend* backend_from_environment();

}  // namespace sim
}  // namespace hearth
