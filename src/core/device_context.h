#pragma once

#include "seam/backend.h"

namespace hearth {

/// The backend of CUDA devices; throws an error with the reason if there is none.
Backend& require_cuda();

/// The number of CUDA devices: 0 without a backend, at most kMaxGpus.
int cuda_device_count();

/// The index of a CUDA device, where -1 stands for the current one; throws if it does not exist.
int cuda_index(int index);
/// The same for a Device; throws if it is not a CUDA device.
int cuda_index(Device device);

}  // namespace hearth
