#pragma once

#include <atomic>
#include <cstdint>

#include "hearth/dispatch_key.h"
#include "hearth/memory_stats.h"
#include "seam/ctx.h"

namespace hearth {

namespace autograd {
struct SavedHooks;
}

inline constexpr int kMaxGpus = 16;

/// Modes in which ops leave the plain path (ops/history.h).
enum ModeFlag : uint32_t {
  kInferenceMode = 1u << 0,
  kAnomalyMode = 1u << 1,
  kAutocastCpu = 1u << 2,
  kAutocastCuda = 1u << 3,
  kAutocast = kAutocastCpu | kAutocastCuda,
  kObserved = 1u << 4,   // an observer (core/observer.h) is installed
  kReusesOps = 1u << 5,  // results are kept and reused (core/op_reuse.h)
};

/// Whether the process is in a level of forward-mode AD. Then all ops leave the plain path, because
/// even a view without a tangent may have got one through its base.
inline constinit std::atomic<bool> dual_level_is_active{false};

/// A running composed op or module, linked to the one that called it.
struct Scope {
  const char* name;
  const Scope* outer;
};

class Generator;
class Observer;
class OpReuse;

namespace detail {

/// All thread-local state that changes the effect of an op, in one struct, so that a snapshot of it
/// can be restored later or in another thread.
struct Modes {
  uint32_t flags = 0;
  bool grad_enabled = true;
  bool forward_grad_enabled = true;  // whether tangents are computed
  DispatchKeySet excluded_keys;      // kinds of kernels that operators skip (hearth/dispatch_key.h)
  bool anomaly_check_nan = true;
  bool autocast_cache = true;
  bool no_tf32_products = false;  // a NoTF32Guard exists
  int8_t cuda_device = 0;
  int8_t autocast_dtype[2] = {15, 5};  // ScalarType for CPU (bfloat16) and CUDA (half)
  /// The tag of new memory. Inside modules, Other stands for Activation (core/memory_label.h).
  MemoryTag memory_tag = MemoryTag::Other;
  StreamHandle streams[kMaxGpus] = {};  // null: the device's default stream
  const Scope* scope = nullptr;
  Observer* observer = nullptr;
  /// The hooks of the innermost SavedTensorHooks guard, which owns them. A thread that may outlive
  /// the guard must not copy this pointer.
  autograd::SavedHooks* saved_hooks = nullptr;
  /// The op whose inputs and outputs are being saved, for the hooks; null for custom functions.
  const char* saved_by = nullptr;
  OpReuse* op_reuse = nullptr;  // with kReusesOps
  /// The generator of the innermost GeneratorGuard, which owns it; replaces the CPU's default one.
  const Generator* generator = nullptr;

  /// Whether ops record history. Custom functions do so even if kernels of autograd are excluded.
  bool records() const { return grad_enabled && !excluded_keys.has(DispatchKey::AutogradCPU); }
  /// Whether ops compute tangents.
  bool computes_tangents() const {
    return forward_grad_enabled && !(flags & kInferenceMode) &&
           dual_level_is_active.load(std::memory_order_relaxed);
  }
  /// Whether results of ops may be differentiated, in either mode.
  bool differentiates() const { return records() || computes_tangents(); }
};

}  // namespace detail
using detail::Modes;

/// This thread's modes.
inline constinit thread_local Modes modes;

/// Restores this thread's modes when it is destroyed.
class ModesGuard {
 public:
  ModesGuard() : saved_(modes) {}
  explicit ModesGuard(const Modes& new_modes) : saved_(modes) { modes = new_modes; }
  ~ModesGuard() { modes = saved_; }
  ModesGuard(const ModesGuard&) = delete;
  ModesGuard& operator=(const ModesGuard&) = delete;

 private:
  Modes saved_;
};

}  // namespace hearth
