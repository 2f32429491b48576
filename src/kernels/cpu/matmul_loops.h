#pragma once

#include "seam/view.h"

namespace hearth::cpu {

/// out = alpha * a @ b + beta * out for batches of matrices (3-D), any dtype and strides; fast only
/// where b's rows are contiguous. Half types are summed in float32, integers wrap, bool uses "and"
/// and "or".
void multiply_loops(const View& a, const View& b, const View& out, double alpha, double beta);

}  // namespace hearth::cpu
