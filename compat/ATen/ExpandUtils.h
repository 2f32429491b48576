#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ATen/core/Tensor.h"
#include "c10/util/Exception.h"

namespace at {

/// The sizes that a and b broadcast to.
inline std::vector<int64_t> infer_size(IntArrayRef a, IntArrayRef b) {
  const size_t dims = std::max(a.size(), b.size());
  std::vector<int64_t> sizes(dims);
  for (size_t back = 1; back <= dims; ++back) {
    const int64_t left = back <= a.size() ? a[a.size() - back] : 1;
    const int64_t right = back <= b.size() ? b[b.size() - back] : 1;
    TORCH_CHECK(left == right || left == 1 || right == 1, "The size of tensor a (", left,
                ") must match the size of tensor b (", right, ") at non-singleton dimension ",
                dims - back);
    sizes[dims - back] = left == 1 ? right : left;
  }
  return sizes;
}

/// Whether a tensor of sizes `shape` can be expanded to `desired`.
inline bool is_expandable_to(IntArrayRef shape, IntArrayRef desired) {
  if (shape.size() > desired.size()) return false;
  for (size_t back = 1; back <= shape.size(); ++back) {
    const int64_t size = shape[shape.size() - back];
    if (size != desired[desired.size() - back] && size != 1) return false;
  }
  return true;
}

}  // namespace at
