#pragma once

#include "ops/call.h"

namespace hearth {

/// The plain path: checks, allocation, launch (call.cpp).
void compute(OpCall& call);

/// The path of every call that has something to observe: autocast, inference mode, recording,
/// anomaly mode, inputs that are written to.
void compute_with_history(OpCall& call);

/// Tells autograd that `view` was made by this call, as its output `output_nr`.
void link_view(const Tensor& view, const OpCall& call, int output_nr);

}  // namespace hearth
