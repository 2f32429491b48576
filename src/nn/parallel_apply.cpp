#include <exception>

#include "hearth/nn/data_parallel.h"
#include "hearth/thread_state.h"
#include "nn/error_context.h"
#include "nn/kept_threads.h"

namespace hearth::nn::parallel::detail {

namespace {

/// Runs work(i) on devices[i], if the list is that long, and adds the device to errors.
void run_on_device(size_t i, const std::vector<Device>& devices,
                   const std::function<void(size_t)>& work) {
  if (i >= devices.size()) return work(i);
  try {
    std::optional<cuda::DeviceGuard> device;
    if (devices[i].is_cuda()) device.emplace(devices[i]);
    work(i);
  } catch (...) {
    nn::detail::rethrow_with_context(
        hearth::detail::str("in replica ", i, " on device ", devices[i]));
  }
}

std::exception_ptr error_of(size_t i, const std::vector<Device>& devices,
                            const std::function<void(size_t)>& work) {
  try {
    run_on_device(i, devices, work);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

void run_in_parallel(size_t count, const std::vector<Device>& devices,
                     const std::function<void(size_t)>& work) {
  if (count == 0) return;
  const ThreadLocalState state;
  std::vector<std::exception_ptr> errors(count);
  const std::function<void(size_t)> in_thread = [&](size_t i) {
    const ThreadLocalStateGuard modes(state);
    errors[i] = error_of(i, devices, work);
  };
  {
    std::vector<ThreadCall> calls;
    calls.reserve(count - 1);
    for (size_t i = 1; i < count; ++i) calls.emplace_back(in_thread, i);
    errors[0] = error_of(0, devices, work);
  }  // waits for the calls
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

std::vector<Device> all_gpus() {
  const int count = cuda::device_count();
  HEARTH_CHECK(count > 0, "Expected at least one CUDA device to be available");
  std::vector<Device> devices;
  for (int i = 0; i < count; ++i) devices.emplace_back(DeviceType::CUDA, DeviceIndex(i));
  return devices;
}

}  // namespace hearth::nn::parallel::detail
