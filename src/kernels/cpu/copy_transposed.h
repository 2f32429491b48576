#pragma once

#include "seam/pointwise.h"

namespace hearth::cpu {

/// Copies between tensors of one dtype with different memory orders, such as a transposed matrix.
/// Returns false, without an effect, if `params` describe something else or a small copy.
bool copy_transposed(const PointwiseParams& params);

}  // namespace hearth::cpu
