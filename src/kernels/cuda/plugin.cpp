#include <string>

#include "kernels/cuda/error.h"
#include "kernels/cuda/runtime.h"
#include "seam/backend.h"

#ifndef HEARTH_SEAM_HASH
#define HEARTH_SEAM_HASH 0
#endif

namespace hearth::cuda {

namespace {

/// Returns the reason why no device can be used, in PyTorch's words if PyTorch has this error.
std::string explain(cudaError_t error) {
  if (error == cudaErrorNoDevice || error == cudaSuccess) return "No CUDA GPUs are available";
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
    return "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and "
           "installed a driver.";
  if (error == cudaErrorInsufficientDriver)
    return detail::str("The NVIDIA driver on your system is too old: it supports CUDA ",
                       driver / 1000, ".", driver % 1000 / 10, ", this build of Hearth needs CUDA ",
                       CUDART_VERSION / 1000, ".", CUDART_VERSION % 1000 / 10,
                       ". Please update your driver.");
  return detail::str("CUDA could not be initialized: ", cudaGetErrorString(error), " (",
                     cudaGetErrorName(error), ").");
}

}  // namespace

}  // namespace hearth::cuda

/// The plugin's entry point: the CUDA backend, or null and the reason.
extern "C" [[gnu::visibility("default")]] hearth::Backend* hearth_cuda_backend(
    uint64_t seam_hash, std::string* why_not) {
  using namespace hearth;
  if (seam_hash != uint64_t{HEARTH_SEAM_HASH}) {
    *why_not = "Hearth's CUDA plugin was built for another version of Hearth.";
    return nullptr;
  }
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    *why_not = cuda::explain(error);
    cudaGetLastError();
    return nullptr;
  }
#ifdef HEARTH_CUDA_COMPILE_ONLY
  *why_not =
      "Hearth's CUDA plugin was built only to check that it compiles: configure with "
      "-DHEARTH_CUDA_COMPILE_ONLY=OFF.";
  return nullptr;
#endif
  try {
    // Never destroyed: streams outlive static objects.
    static cuda::CudaBackend* backend = new cuda::CudaBackend(count);
    return backend;
  } catch (const Error& failure) {
    *why_not = failure.msg();
    return nullptr;
  }
}
