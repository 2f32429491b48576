#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// The p-norms |a[i] - b[j]|_p of rows: a is [batch, rows, width] and b [batch, columns, width],
/// contiguous and of one dtype, float or double. out is [batch, rows, columns] or, if `upper` (a
/// and b are one matrix), the distances of rows i < j, one after the other; contiguous. p = 0
/// counts elements that differ, p = infinity is the largest difference.
struct CdistParams {
  View a, b, out;
  double p = 2;
  bool upper = false;
};

/// The gradient of a: grad and dist are [batch, rows, columns] with any strides, grad_a has a's
/// sizes and is contiguous. As in PyTorch, a distance of 0 has the gradient 0, and p = infinity
/// passes the gradient to all largest differences.
struct CdistBackwardParams {
  View grad, a, b, dist, grad_a;
  double p = 2;
};

}  // namespace hearth
