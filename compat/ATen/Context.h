#pragma once

#include <string>

#include "ATen/Version.h"
#include "c10/core/DeviceType.h"
#include "c10/util/Exception.h"
#include "hearth/context.h"
#include "hearth/cuda.h"
#include "hearth/generator.h"
#include "hearth/threads.h"

namespace at {

/// Permissions to round, and choices of libraries, that Hearth's operators do not need: only their
/// values are kept.
class KeptSettings {
 public:
#define HEARTH_SETTING(get, set, initial) \
 private:                                 \
  bool get##_ = initial;                  \
                                          \
 public:                                  \
  bool get() const { return get##_; }     \
  void set(bool value) { get##_ = value; }
  HEARTH_SETTING(userEnabledMkldnn, setUserEnabledMkldnn, true)
  HEARTH_SETTING(deterministicMkldnn, setDeterministicMkldnn, false)
  HEARTH_SETTING(allowTF32OneDNN, setAllowTF32OneDNN, false)
  HEARTH_SETTING(userEnabledNNPACK, setUserEnabledNNPACK, true)
  HEARTH_SETTING(userEnabledFlashSDP, setSDPUseFlash, true)
  HEARTH_SETTING(userEnabledMemEfficientSDP, setSDPUseMemEfficient, true)
  HEARTH_SETTING(userEnabledMathSDP, setSDPUseMath, true)
  HEARTH_SETTING(userEnabledCuDNNSDP, setSDPUseCuDNN, true)
  HEARTH_SETTING(allowFP16BF16ReductionMathSDP, setAllowFP16BF16ReductionMathSDP, false)
  HEARTH_SETTING(allowFP16AccumulationCuBLAS, setAllowFP16AccumulationCuBLAS, false)
#undef HEARTH_SETTING
  void setAllowFP16ReductionCuBLAS(bool, bool = true) {}
  void setAllowBF16ReductionCuBLAS(bool, bool = true) {}
};

/// Process-wide settings and the available backends, as at::globalContext() returns them.
struct Context : hearth::Context, KeptSettings {
  static bool hasCUDA() { return hearth::cuda::is_available(); }
  static bool hasCUDART() { return hasCUDA(); }
  static bool hasCuDNN() { return hearth::cuda::cudnn_is_available(); }
  static bool hasLAPACK() { return true; }  // the functions of linalg work
#define HEARTH_LACKS(has) \
  static bool has() { return false; }
  HEARTH_LACKS(hasMKL)
  HEARTH_LACKS(hasMKLDNN)
  HEARTH_LACKS(hasMAGMA)
  HEARTH_LACKS(hasOpenMP)
  HEARTH_LACKS(hasHIP)
  HEARTH_LACKS(hasROCM)
  HEARTH_LACKS(hasMPS)
  HEARTH_LACKS(hasXPU)
  HEARTH_LACKS(hasXLA)
  HEARTH_LACKS(hasHPU)
  HEARTH_LACKS(hasIPU)
  HEARTH_LACKS(hasMTIA)
#undef HEARTH_LACKS
  const Generator& defaultGenerator(Device device) const {
    return hearth::default_generator(device);
  }
  /// Throws if there is no device of this type.
  void lazyInitDevice(DeviceType type) const {
    if (type == kCUDA) return hearth::cuda::synchronize();
    TORCH_CHECK(type == kCPU, "Cannot execute init() without ", DeviceTypeName(type), " backend.");
  }
  void lazyInitCUDA() const { lazyInitDevice(kCUDA); }
  /// Whether this thread's denormal results become 0 from now on; returns false if the processor
  /// cannot.
  static bool setFlushDenormal([[maybe_unused]] bool on) {
#ifdef __x86_64__
    constexpr unsigned kFlush = 0x8040;  // flush-to-zero, denormals-are-zero
    const unsigned state = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(on ? state | kFlush : state & ~kFlush);
    return true;
#else
    return false;
#endif
  }
};
inline Context& globalContext() {
  static Context context;
  return context;
}
inline bool hasCUDA() { return Context::hasCUDA(); }
inline bool hasHIP() { return Context::hasHIP(); }
inline bool hasHPU() { return Context::hasHPU(); }
inline bool hasIPU() { return Context::hasIPU(); }
inline bool hasLAPACK() { return Context::hasLAPACK(); }
inline bool hasMAGMA() { return Context::hasMAGMA(); }
inline bool hasMKL() { return Context::hasMKL(); }
inline bool hasMKLDNN() { return Context::hasMKLDNN(); }
inline bool hasMPS() { return Context::hasMPS(); }
inline bool hasMTIA() { return Context::hasMTIA(); }
inline bool hasOpenMP() { return Context::hasOpenMP(); }
inline bool hasXLA() { return Context::hasXLA(); }
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
using at::hasHPU;
using at::hasIPU;
using at::hasLAPACK;
using at::hasMAGMA;
using at::hasMKL;
using at::hasMKLDNN;
using at::hasMPS;
using at::hasMTIA;
using at::hasOpenMP;
using at::hasXLA;
using at::hasXPU;
using at::init_num_threads;
}  // namespace torch
