#include "kernels/cuda/error.h"

namespace hearth::cuda {

void fail_cuda(cudaError_t error, const char* call) {
  cudaGetLastError();  // clears the error, which the next call would report again
  detail::fail<Error>("CUDA error: ", cudaGetErrorString(error), " (", cudaGetErrorName(error),
                      " in ", call,
                      "). Kernels run asynchronously: the cause may be an earlier one.");
}

bool out_of_memory(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return false;
  if (error != cudaErrorMemoryAllocation) fail_cuda(error, call);
  cudaGetLastError();
  return true;
}

void check_launch(const char* kernel) {
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) fail_cuda(error, kernel);
}

}  // namespace hearth::cuda
