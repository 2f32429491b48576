#pragma once

#include "seam/backend.h"

namespace hearth {

/// The backend of CUDA devices, or an Error that says what is missing.
Backend& require_cuda();

/// How many CUDA devices are used: 0 without a backend, at most kMaxGpus.
int cuda_device_count();

/// The index of a CUDA device that exists (-1 stands for the current one), or an Error.
int cuda_index(int index);
/// The same for a Device, which must be of the CUDA kind.
int cuda_index(Device device);

}  // namespace hearth
