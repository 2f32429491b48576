#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// out = beta * c + alpha * a @ b for matrices (2-D) or batches of them (3-D), all of one dtype:
/// a [batch, m, k], b [batch, k, n], c and out [batch, m, n]. a, b and c may have any strides (0
/// where broadcast); out does not overlap itself or the inputs. If c is undefined, the first term
/// is absent; if beta is 0, c is not read, so a NaN in it does not spread.
struct MatmulParams {
  View a, b, c, out;
  double alpha = 1;
  double beta = 1;
};

}  // namespace hearth
