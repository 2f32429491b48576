#pragma once

#include <cuda_runtime_api.h>

#include "hearth/cuda.h"

namespace hearth::distributed {

/// Throws unless NCCL can use the GPUs of this process.
void check_gpus();

/// During its lifetime, a GPU is the CUDA runtime's current device, which NCCL requires.
class RuntimeDevice {
 public:
  explicit RuntimeDevice(Device device);
  ~RuntimeDevice();
  RuntimeDevice(const RuntimeDevice&) = delete;
  RuntimeDevice& operator=(const RuntimeDevice&) = delete;

 private:
  int former_ = -1;
};

/// The stream's handle for NCCL.
cudaStream_t runtime_stream(const cuda::Stream& stream);

}  // namespace hearth::distributed
