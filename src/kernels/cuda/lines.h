#pragma once

#include <algorithm>

#include "kernels/cuda/loop.h"
#include "seam/view.h"

namespace hearth::cuda {

/// Moves dimension `dim` of a view to the end; a 0-d view becomes a line of one element.
inline View lines_along(View view, int dim) {
  if (view.dim == 0) {
    view.dim = 1;
    view.sizes[0] = view.strides[0] = 1;
  }
  std::rotate(view.sizes + dim, view.sizes + dim + 1, view.sizes + view.dim);
  std::rotate(view.strides + dim, view.strides + dim + 1, view.strides + view.dim);
  return view;
}

inline int64_t last_size(const View& view) { return view.sizes[view.dim - 1]; }
/// The stride of the last dimension in bytes.
inline int64_t last_step(const View& view) {
  return view.strides[view.dim - 1] * int64_t(element_size(view.dtype));
}

}  // namespace hearth::cuda
