#pragma once

namespace hearth {

class Backend;

namespace sim {

/// The simulator that HEARTH_SIM_GPUS asks for, or null; lives until the process ends.
Backend* backend_from_environment();

}  // namespace sim
}  // namespace hearth
