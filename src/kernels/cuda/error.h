#pragma once

#include <cuda_runtime_api.h>

#include "hearth/error.h"

namespace hearth::cuda {

/// Throws hearth::Error with the name and meaning of a CUDA error and the call that reported it.
[[noreturn]] void fail_cuda(cudaError_t error, const char* call);

/// Returns whether a call ran out of memory, and clears that error; throws for any other error.
bool out_of_memory(cudaError_t error, const char* call);

/// Throws if the launch of a kernel failed.
void check_launch(const char* kernel);

}  // namespace hearth::cuda

/// Calls a function of the CUDA runtime and throws unless it succeeds.
#define HEARTH_CUDA(call)                                                     \
  do {                                                                        \
    if (const cudaError_t hearth_error = (call); hearth_error != cudaSuccess) \
      ::hearth::cuda::fail_cuda(hearth_error, #call);                         \
  } while (false)
