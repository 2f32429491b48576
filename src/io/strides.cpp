#include "io/strides.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hearth/operators.h"

namespace hearth::serialize {

namespace {

/// Largest ratio of the memory that strides span to the number of elements.
constexpr int64_t kMaxSpread = 16;

}  // namespace

bool can_keep_strides(IntArrayRef sizes, IntArrayRef strides) {
  if (sizes.size() != strides.size()) return false;
  std::vector<std::pair<int64_t, int64_t>> dims;  // (stride, size), if stride > 0 and size > 1
  int64_t num_elements = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0 || strides[i] < 0) return false;
    if (sizes[i] == 1 || strides[i] == 0) continue;
    dims.emplace_back(strides[i], sizes[i]);
    num_elements *= sizes[i];
  }
  std::sort(dims.begin(), dims.end());
  const int64_t max_span = num_elements * kMaxSpread;
  int64_t span = 1;  // of the dimensions so far, in elements
  for (const auto& [stride, size] : dims) {
    if (stride < span || size - 1 > (max_span - span) / stride) return false;
    span += (size - 1) * stride;
  }
  return true;
}

Tensor copy_with_strides(const Tensor& tensor, IntArrayRef strides) {
  Tensor copy = empty_strided(tensor.sizes(), strides, tensor.options());
  // In an expanded dimension, only the first element is written.
  Tensor target = copy, source = tensor;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (strides[static_cast<size_t>(dim)] != 0 || tensor.size(dim) < 2) continue;
    target = target.narrow(dim, 0, 1);
    source = source.narrow(dim, 0, 1);
  }
  target.copy_(source);
  return copy;
}

}  // namespace hearth::serialize
