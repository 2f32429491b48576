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
  for (size_t from_end = 1; from_end <= dims; ++from_end) {
    const int64_t size_a = from_end <= a.size() ? a[a.size() - from_end] : 1;
    const int64_t size_b = from_end <= b.size() ? b[b.size() - from_end] : 1;
    TORCH_CHECK(size_a == size_b || size_a == 1 || size_b == 1, "The size of tensor a (", size_a,
                ") must match the size of tensor b (", size_b, ") at non-singleton dimension ",
                dims - from_end);
    sizes[dims - from_end] = size_a == 1 ? size_b : size_a;
  }
  return sizes;
}

/// Whether a tensor of sizes `shape` can be expanded to `desired`.
inline bool is_expandable_to(IntArrayRef shape, IntArrayRef desired) {
  if (shape.size() > desired.size()) return false;
  for (size_t from_end = 1; from_end <= shape.size(); ++from_end) {
    const int64_t size = shape[shape.size() - from_end];
    if (size != desired[desired.size() - from_end] && size != 1) return false;
  }
  return true;
}

}  // namespace at
