#pragma once

#include "hearth/operators.h"

namespace hearth::nn::detail {

/// Returns Q of the QR decomposition with a positive diagonal of R, in float64, for a matrix with
/// at least as many rows as columns. Runs the Gram-Schmidt process, orthogonalizing twice for
/// accuracy.
inline Tensor orthonormal_columns(const Tensor& matrix) {
  const Tensor q = matrix.to(kDouble).clone();
  for (int64_t j = 0; j < q.size(1); ++j) {
    const Tensor column = q.select(1, j);
    const Tensor earlier = q.narrow(1, 0, j);
    for (int pass = 0; j > 0 && pass < 2; ++pass) column.sub_(earlier.mv(earlier.t().mv(column)));
    column.div_(column.norm());
  }
  return q;
}

}  // namespace hearth::nn::detail
