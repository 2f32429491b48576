#pragma once

#include "ops/call.h"

namespace hearth {

/// The path of calls that leave the plain path: autocast, inference mode, recording, tangents,
/// observers, anomaly mode, inputs that are written to.
void compute_with_history(OpCall& call);

/// Whether output i of a call that has run can require grad.
bool is_differentiable_output(const OpCall& call, size_t i);

/// Records `view` as output `output_nr` of this call, a view of input 0.
void link_view(const Tensor& view, const OpCall& call, int output_nr);

}  // namespace hearth
