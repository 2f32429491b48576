#pragma once

#include <cuda_runtime_api.h>

#include "hearth/cuda.h"

namespace hearth::distributed {

/// Throws unless NCCL can use the GPUs of this process.
void check_gpus();

/// Makes a GPU the CUDA runtime's current one, which NCCL asks for.
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
