#pragma once

#include "seam/pointwise.h"

namespace hearth::cpu {

/// Runs a kernel that only copies elements between tensors of one dtype whose memory orders differ,
/// such as a transposed matrix; returns false, without an effect, for all other kernels.
bool copy_transposed(const PointwiseParams& params);

}  // namespace hearth::cpu
