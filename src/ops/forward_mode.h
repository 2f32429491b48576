#pragma once

#include "core/modes.h"
#include "ops/call.h"

namespace hearth {

/// Forward-mode differentiation of one call: made before the op runs, it computes the tangents of
/// the outputs afterwards.
class ForwardMode {
 public:
  /// Finds the tangents of the inputs; throws if there are some and the op cannot pass them on.
  explicit ForwardMode(const OpCall& call) {
    if (dual_level_is_active.load(std::memory_order_relaxed)) [[unlikely]]
      find_tangents(call);
  }
  ~ForwardMode() {
    if (tangents_) [[unlikely]]
      destroy(tangents_);
  }
  ForwardMode(const ForwardMode&) = delete;
  ForwardMode& operator=(const ForwardMode&) = delete;
  /// Gives the outputs their tangents.
  void finish(const OpCall& call) {
    if (tangents_) [[unlikely]]
      compute(call);
  }

 private:
  struct Tangents;  // of the call

  void find_tangents(const OpCall& call);
  void compute(const OpCall& call) const;
  static void destroy(Tangents* tangents) noexcept;

  Tangents* tangents_ = nullptr;  // null if no input and no target has a tangent
};

}  // namespace hearth
