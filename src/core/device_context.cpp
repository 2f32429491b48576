#include "core/device_context.h"

#include <algorithm>

#include "core/backends.h"
#include "core/modes.h"
#include "hearth/error.h"

namespace hearth {

Backend& require_cuda() {
  Backend* const backend = cuda_backend();
  HEARTH_CHECK(backend, "No CUDA GPUs are available: ", why_no_cuda());
  return *backend;
}

int cuda_device_count() {
  Backend* const backend = cuda_backend();
  return backend ? std::min(backend->device_count(), kMaxGpus) : 0;
}

int cuda_index(int index) {
  require_cuda();
  const int count = cuda_device_count();
  if (index == -1) index = modes.cuda_device;
  HEARTH_CHECK(index >= 0 && index < count, "CUDA error: invalid device ordinal (cuda:", index,
               " was asked for, but ", count == 1 ? "there is only " : "the last device is ",
               "cuda:", count - 1, ")");
  return index;
}

int cuda_index(Device device) {
  HEARTH_CHECK(device.is_cuda(), "Expected a cuda device, but got: ", device);
  return cuda_index(int{device.index()});
}

}  // namespace hearth
