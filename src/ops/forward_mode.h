#pragma once

#include <memory>

#include "core/tensor_impl.h"
#include "ops/call.h"

namespace hearth {

/// Forward-mode differentiation of one call: made before the op runs, it computes the tangents of
/// the outputs afterwards.
class ForwardMode {
 public:
  /// Finds the tangents of the inputs; throws if there are some and the op cannot pass them on.
  explicit ForwardMode(const OpCall& call) {
    if (may_have_tangents(call)) [[unlikely]]
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

  static bool may_have_tangents(const OpCall& call) {
    uint32_t flags = 0;
    for (int i = 0; i < call.inputs.count; ++i)
      if (call.inputs[i].defined()) flags |= impl_of(call.inputs[i]).flags;
    for (const Tensor& target : call.outputs)
      if (target.defined()) flags |= impl_of(target).flags;
    return (flags & kHasTangent) || dual_level_is_active.load(std::memory_order_relaxed);
  }
  void find_tangents(const OpCall& call);
  void compute(const OpCall& call) const;
  static void destroy(Tangents* tangents) noexcept;

  Tangents* tangents_ = nullptr;  // null if no input and no target has a tangent
};

}  // namespace hearth
