#pragma once

#include <string>

#include "hearth/device.h"
#include "seam/backend.h"

namespace hearth {

/// The CPU's backend; always there.
Backend& cpu_backend();

/// The backend that serves DeviceType::CUDA: the simulator under HEARTH_SIM_GPUS, else the plugin,
/// loaded at the first question. Null when there is neither; why_no_cuda() then says in a sentence
/// what is missing.
Backend* cuda_backend();
/// The same, but null as long as nobody has asked for it.
Backend* cuda_backend_in_use();
const std::string& why_no_cuda();

/// The backend of a device that exists, or an Error that explains.
Backend& backend_of(Device device);

}  // namespace hearth
