#include <string>

#include "kernels/backend.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/runtime.h"

#ifndef HEARTH_SEAM_HASH
#define HEARTH_SEAM_HASH 0
#endif

namespace hearth::cuda {

namespace {

/// Why no device can be used, in a sentence.
std::string explain(cudaError_t error) {
  int driver = 0;
  if (error == cudaErrorNoDevice || error == cudaSuccess) return "the NVIDIA driver reports no GPU";
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) return "no NVIDIA driver is installed";
  std::string reason = cudaGetErrorString(error);
  if (error == cudaErrorInsufficientDriver)
    reason = detail::str("the NVIDIA driver supports CUDA ", driver / 1000, ".", driver % 1000 / 10,
                         ", this build of Hearth needs CUDA ", CUDART_VERSION / 1000, ".",
                         CUDART_VERSION % 1000 / 10);
  return detail::str(reason, " (", cudaGetErrorName(error), ")");
}

}  // namespace

}  // namespace hearth::cuda

/// The plugin's entry point: the CUDA backend, or null and the reason.
extern "C" [[gnu::visibility("default")]] hearth::Backend* hearth_cuda_backend(uint64_t seam_hash,
                                                                               std::string* why_not) {
  using namespace hearth;
  if (seam_hash != uint64_t{HEARTH_SEAM_HASH}) {
    *why_not = "the CUDA plugin was built for another version of Hearth";
    return nullptr;
  }
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    *why_not = cuda::explain(error);
    cudaGetLastError();
    return nullptr;
  }
  try {
    static cuda::CudaBackend* backend = new cuda::CudaBackend(count);  // streams outlive static objects
    return backend;
  } catch (const Error& failure) {
    *why_not = failure.msg();
    return nullptr;
  }
}
