#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "ATen/core/Tensor.h"
#include "c10/util/Exception.h"
#include "c10/util/MaybeOwned.h"

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

/// The tensor expanded to these sizes, or a reference to it if it has them.
inline c10::MaybeOwned<Tensor> expand_size(const Tensor& tensor, IntArrayRef sizes) {
  if (tensor.sizes().equals(sizes)) return c10::MaybeOwned<Tensor>::borrowed(tensor);
  return c10::MaybeOwned<Tensor>::owned(tensor.expand(sizes));
}
inline c10::MaybeOwned<Tensor> expand_size(const Tensor& tensor, IntArrayRef sizes, const char*) {
  return expand_size(tensor, sizes);
}
/// The argument, expanded to the sizes of the tensor that an in-place op modifies.
inline c10::MaybeOwned<Tensor> expand_inplace(const Tensor& tensor, const Tensor& to_expand) {
  return expand_size(to_expand, tensor.sizes());
}
/// Both tensors, expanded to the sizes that they broadcast to.
inline std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_outplace(
    const Tensor& a, const Tensor& b) {
  const std::vector<int64_t> sizes = infer_size(a.sizes(), b.sizes());
  return {expand_size(a, sizes), expand_size(b, sizes)};
}
inline std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_outplace(const Tensor& a,
                                                                                    const Tensor& b,
                                                                                    const char*) {
  return expand_outplace(a, b);
}
/// The sum over the dimensions in which `sizes` was expanded to the tensor's sizes.
inline Tensor sum_to(Tensor tensor, IntArrayRef sizes, bool = false) {
  return tensor.sum_to_size(sizes);
}

}  // namespace at
