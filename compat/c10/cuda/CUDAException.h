#pragma once

#include "c10/util/Exception.h"

// For sources that include the CUDA runtime's header, as nvcc does.
#define C10_CUDA_CHECK(call)                                         \
  do {                                                               \
    const cudaError_t c10_cuda_error = (call);                       \
    TORCH_CHECK(c10_cuda_error == cudaSuccess,                       \
                "CUDA error: ", cudaGetErrorString(c10_cuda_error)); \
  } while (false)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define AT_CUDA_CHECK(call) C10_CUDA_CHECK(call)
#define C10_CUDA_ERROR_HANDLED(call) (call)
#define C10_CUDA_IGNORE_ERROR(call)                      \
  do {                                                   \
    if ((call) != cudaSuccess) (void)cudaGetLastError(); \
  } while (false)
#define C10_CUDA_CLEAR_ERROR() (void)cudaGetLastError()
#define C10_CUDA_CHECK_WARN(call)                                       \
  do {                                                                  \
    const cudaError_t c10_cuda_error = (call);                          \
    if (c10_cuda_error != cudaSuccess) {                                \
      (void)cudaGetLastError();                                         \
      TORCH_WARN("CUDA warning: ", cudaGetErrorString(c10_cuda_error)); \
    }                                                                   \
  } while (false)
