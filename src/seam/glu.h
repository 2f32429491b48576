#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// out = a * sigmoid(b), where a and b are the first and the second half of `in` along dim. `in`
/// and `out` have the same floating dtype.
struct GluParams {
  View in, out;
  int dim = 0;
};

/// The gradient of glu with respect to `in`; every element of grad_in is written.
struct GluBackwardParams {
  View grad_out, in, grad_in;
  int dim = 0;
};

/// Returns the first half (0) or the second half (1) of a view along dim.
inline View half_of(View view, int dim, int half) {
  view.sizes[dim] /= 2;
  view.numel /= 2;
  view.data = view.as<char>() +
              half * view.sizes[dim] * view.strides[dim] * int64_t(element_size(view.dtype));
  return view;
}

}  // namespace hearth
