#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// out = beta * c + alpha * a @ b for matrices (2-D) or batches of them (3-D), all of one dtype:
/// a [batch, m, k], b [batch, k, n], c and out [batch, m, n]. Strides are free in a, b and c (0
/// where broadcast; c has out's sizes); out does not overlap itself or the inputs. Without c
/// (undefined) the first term is absent; with beta == 0 what c holds, NaN included, is not looked
/// at.
struct MatmulParams {
  View a, b, c, out;
  double alpha = 1;
  double beta = 1;
};

namespace cpu {
void run(const MatmulParams& params, Ctx& ctx);
}
namespace cuda {
void run(const MatmulParams& params, Ctx& ctx);
}

}  // namespace hearth
