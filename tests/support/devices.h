// GPUs in tests.
#pragma once

#include "hearth/context.h"
#include "hearth/cuda.h"

namespace hearth::testing {

/// The CUDA device with the highest index.
inline Device last_gpu() {
  return {DeviceType::CUDA, static_cast<DeviceIndex>(cuda::device_count() - 1)};
}

/// Whether this is a real GPU. Its libraries choose algorithms by shapes and alignments, so the
/// last bits of results may differ; simulated GPUs compute as the CPU does.
inline bool is_real_gpu(Device device) {
  return device.is_cuda() && !cuda::get_device_name(device.index()).starts_with("Simulated");
}

/// Makes cuDNN compute in full float32 during its lifetime.
class ExactConvolutions {
 public:
  ExactConvolutions() : was_allowed_(globalContext().allowTF32CuDNN()) {
    globalContext().setAllowTF32CuDNN(false);
  }
  ~ExactConvolutions() { globalContext().setAllowTF32CuDNN(was_allowed_); }
  ExactConvolutions(const ExactConvolutions&) = delete;
  ExactConvolutions& operator=(const ExactConvolutions&) = delete;

 private:
  bool was_allowed_;
};

}  // namespace hearth::testing
