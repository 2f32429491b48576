#pragma once

#include "c10/namespaces.h"
#include "hearth/context.h"
#include "hearth/cuda.h"
#include "hearth/generator.h"
#include "hearth/threads.h"

namespace at {

/// Process-wide settings and the available backends, as at::globalContext() returns them.
struct Context : hearth::Context {
  bool hasCUDA() const { return hearth::cuda::is_available(); }
  static bool hasCuDNN() { return hearth::cuda::cudnn_is_available(); }
  static bool hasMKL() { return false; }
  static bool hasMAGMA() { return false; }
  static bool hasHIP() { return false; }
  static bool hasMPS() { return false; }
  static bool hasXPU() { return false; }
  const Generator& defaultGenerator(Device device) const {
    return hearth::default_generator(device);
  }
};
inline Context& globalContext() {
  static Context context;
  return context;
}
inline bool hasCUDA() { return globalContext().hasCUDA(); }
inline bool hasMKL() { return Context::hasMKL(); }
inline bool hasMAGMA() { return Context::hasMAGMA(); }
inline bool hasHIP() { return Context::hasHIP(); }
inline bool hasMPS() { return Context::hasMPS(); }
inline bool hasXPU() { return Context::hasXPU(); }
inline size_t getNumGPUs() { return static_cast<size_t>(hearth::cuda::device_count()); }
inline void init_num_threads() {}

}  // namespace at

namespace hearth::detail {
inline const Generator& getDefaultCPUGenerator() { return default_generator(); }
/// A generator of the CPU; without a seed, it has PyTorch's default seed.
inline Generator createCPUGenerator(uint64_t seed = 67280421310721) {
  Generator generator = make_generator();
  generator.set_current_seed(seed);
  return generator;
}
}  // namespace hearth::detail

namespace torch {
using at::getNumGPUs;
using at::globalContext;
using at::hasCUDA;
using at::hasHIP;
using at::hasMAGMA;
using at::hasMKL;
using at::hasMPS;
using at::hasXPU;
using at::init_num_threads;
}  // namespace torch
