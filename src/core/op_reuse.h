#pragma once

#include "core/modes.h"
#include "core/op.h"

namespace hearth {

/// Keeps the results of some ops of a computation, and returns them when the computation is
/// repeated: calls correspond if they are of the same op and have the same number among its calls.
/// find() is called for every op that returns new tensors, except for composed ops.
class OpReuse {
 public:
  virtual ~OpReuse() = default;
  /// If the outputs of the op's next call are kept, sets them and returns true.
  virtual bool find(const OpRecord& op, Outputs& outputs) = 0;
  /// Called with the outputs of a call that was computed.
  virtual void computed(const OpRecord& op, const Outputs& outputs) = 0;
};

/// Uses `reuse`, or none if it is null, for the calls of this thread until the guard is destroyed.
class OpReuseGuard {
 public:
  explicit OpReuseGuard(OpReuse* reuse) : former_(modes.op_reuse) { set(reuse); }
  ~OpReuseGuard() { set(former_); }
  OpReuseGuard(const OpReuseGuard&) = delete;
  OpReuseGuard& operator=(const OpReuseGuard&) = delete;

 private:
  static void set(OpReuse* reuse) {
    modes.op_reuse = reuse;
    modes.flags = reuse ? modes.flags | kReusesOps : modes.flags & ~uint32_t{kReusesOps};
  }
  OpReuse* const former_;
};

}  // namespace hearth
