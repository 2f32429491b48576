#include "core/device_context.h"

#include "core/streams.h"
#include "hearth/error.h"

namespace hearth {

Backend& require_cuda() {
  Backend* const backend = cuda_backend();
  HEARTH_CHECK(backend, "No CUDA GPUs are available: ", why_no_cuda());
  return *backend;
}

int cuda_index(int index) {
  const int count = require_cuda().device_count();
  if (index == -1) index = current_cuda_device();
  HEARTH_CHECK(index >= 0 && index < count, "CUDA error: invalid device ordinal (cuda:", index,
               " was asked for, but ", count == 1 ? "there is only " : "the last device is ",
               "cuda:", count - 1, ")");
  return index;
}

int cuda_index(Device device) {
  HEARTH_CHECK(device.is_cuda(), "Expected a cuda device, but got: ", device);
  return cuda_index(int{device.index()});
}

Backend& backend_of(Device device) {
  if (device.is_cpu()) return cpu_backend();
  cuda_index(device);
  return require_cuda();
}

}  // namespace hearth
