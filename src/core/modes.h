#pragma once

#include <cstdint>

#include "seam/ctx.h"

namespace hearth {

namespace autograd {
struct SavedHooks;
}

inline constexpr int kMaxGpus = 16;

/// Modes that take every op off the plain path.
enum ModeFlag : uint32_t {
  kInferenceMode = 1u << 0,
  kAnomalyMode = 1u << 1,
  kAutocastCpu = 1u << 2,
  kAutocastCuda = 1u << 3,
  kAutocast = kAutocastCpu | kAutocastCuda,
  kObserved = 1u << 4,  // profiler, tracer or exporter looks on
};

/// A composed op or a module that is being computed, innermost first.
struct Scope {
  const char* name;
  const Scope* outer;
};

class Generator;
class Observer;

namespace detail {

/// Everything thread-local that changes what an op does, in one struct: engine threads,
/// checkpointing and loader workers take a snapshot and restore it.
struct Modes {
  uint32_t flags = 0;
  bool grad_enabled = true;
  bool anomaly_check_nan = true;
  bool autocast_cache = true;
  int8_t cuda_device = 0;
  int8_t autocast_dtype[2] = {15, 5};   // ScalarType for CPU (bfloat16) and CUDA (half)
  StreamHandle streams[kMaxGpus] = {};  // null: the device's default stream
  const Scope* scope = nullptr;
  Observer* observer = nullptr;
  /// The innermost SavedTensorHooks guard's, which keeps them alive: a thread that may outlive the
  /// guard must not take them over.
  autograd::SavedHooks* saved_hooks = nullptr;
  /// The innermost GeneratorGuard's, which owns it: stands for the CPU's default generator.
  const Generator* generator = nullptr;
};

}  // namespace detail
using detail::Modes;

/// This thread's modes.
inline constinit thread_local Modes modes;

/// Restores all modes when it ends.
class ModesGuard {
 public:
  ModesGuard() : saved_(modes) {}
  explicit ModesGuard(const Modes& use) : saved_(modes) { modes = use; }
  ~ModesGuard() { modes = saved_; }
  ModesGuard(const ModesGuard&) = delete;
  ModesGuard& operator=(const ModesGuard&) = delete;

 private:
  Modes saved_;
};

}  // namespace hearth
