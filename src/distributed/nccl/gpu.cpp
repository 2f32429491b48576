#include "distributed/nccl/gpu.h"

#include <cstdlib>

#include "hearth/error.h"

namespace hearth::distributed {

namespace {

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value && *value;
}

bool is_simulated() { return is_set("HEARTH_SIM_GPUS"); }

void check_runtime(cudaError_t error, const char* call) {
  HEARTH_CHECK_AS(DistBackendError, error == cudaSuccess, call, ": ", cudaGetErrorString(error));
}

}  // namespace

void check_gpus() {
  HEARTH_CHECK_AS(DistBackendError, cuda::is_available(),
                  "the backend nccl needs a GPU: ", cuda::why_not(), "; the backend gloo does not");
  HEARTH_CHECK_AS(DistBackendError, !is_simulated() || is_set("HEARTH_NCCL_LIBRARY"),
                  "NCCL cannot use simulated GPUs (HEARTH_SIM_GPUS is set); use the backend gloo");
}

RuntimeDevice::RuntimeDevice(Device device) {
  if (is_simulated()) return;
  check_runtime(cudaGetDevice(&former_), "cudaGetDevice");
  check_runtime(cudaSetDevice(device.index()), "cudaSetDevice");
}

RuntimeDevice::~RuntimeDevice() {
  if (former_ >= 0) cudaSetDevice(former_);  // ignores errors: a destructor must not throw
}

cudaStream_t runtime_stream(const cuda::Stream& stream) {
  // The library in HEARTH_NCCL_LIBRARY, which check_gpus() requires, knows the simulated streams.
  return is_simulated() ? static_cast<cudaStream_t>(stream.handle()) : stream.stream();
}

}  // namespace hearth::distributed
