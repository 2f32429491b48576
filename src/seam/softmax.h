#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// out = exp(in) / sum(exp(in)) along `dim`, or, with `log`, in - log(sum(exp(in))). Same sizes and
/// floating dtype; dim is 0 for a 0-d view.
struct SoftmaxParams {
  View in, out;
  int dim = 0;
  bool log = false;
};

/// grad_in = out * (grad - sum(grad * out)) along `dim`, or, with `log`, grad - exp(out) *
/// sum(grad), where out is SoftmaxParams::out.
struct SoftmaxBackwardParams {
  View grad, out, grad_in;
  int dim = 0;
  bool log = false;
};

}  // namespace hearth
