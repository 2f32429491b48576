// What tests need to know of the GPUs they run on.
#pragma once

#include "hearth/context.h"
#include "hearth/cuda.h"

namespace hearth::testing {

/// The last CUDA device; the first one where there is only one.
inline Device last_gpu() {
  return {DeviceType::CUDA, static_cast<DeviceIndex>(cuda::device_count() - 1)};
}

/// Whether it is a GPU, whose libraries choose algorithms by shapes and alignments. A simulated one
/// computes as the CPU does.
inline bool is_real_gpu(Device device) {
  return device.is_cuda() && !cuda::get_device_name(device.index()).starts_with("Simulated");
}

/// Convolutions in full float32 while it lives.
class NoTF32Guard {
 public:
  NoTF32Guard() : former_(globalContext().allowTF32CuDNN()) {
    globalContext().setAllowTF32CuDNN(false);
  }
  ~NoTF32Guard() { globalContext().setAllowTF32CuDNN(former_); }
  NoTF32Guard(const NoTF32Guard&) = delete;
  NoTF32Guard& operator=(const NoTF32Guard&) = delete;

 private:
  bool former_;
};

}  // namespace hearth::testing
