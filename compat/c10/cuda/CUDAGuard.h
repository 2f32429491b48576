#pragma once

#include "c10/core/DeviceGuard.h"
#include "c10/cuda/CUDAStream.h"

namespace hearth::cuda {

using CUDAGuard = DeviceGuard;
using OptionalCUDAGuard = OptionalDeviceGuard;
using CUDAStreamGuard = StreamGuard;

}  // namespace hearth::cuda
