#pragma once

#include "ops/call.h"

namespace hearth {

/// The plain path: checks, allocation, launch (call.cpp).
void compute(OpCall& call);

/// The path of every call that has something to observe: autocast, inference mode, recording,
/// anomaly mode.
void compute_with_history(OpCall& call);

/// Tells autograd that `view` was made by this call, as its output `output_nr`.
void link_view(const Tensor& view, const OpCall& call, int output_nr);

/// Calls f with every input that the call writes to besides its outputs.
template <class F>
void for_each_mutated(const OpCall& call, const F& f) {
  const SlotSet mutated = call.op.mutates ? call.op.mutates(call.op, call.args) : 0;
  for (int i = 0; mutated && i < call.inputs.count; ++i)
    if ((mutated & in_slot(i)) && call.inputs[i].defined()) f(call.inputs[i]);
}

}  // namespace hearth
