#pragma once

#include "ATen/Context.h"
#include "c10/cuda/CUDAFunctions.h"
#include "c10/cuda/CUDAStream.h"

namespace hearth::cuda {
inline int64_t getNumGPUs() { return device_count(); }
}  // namespace hearth::cuda
