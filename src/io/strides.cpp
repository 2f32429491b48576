#include "io/strides.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hearth/operators.h"

namespace hearth::serialize {

namespace {

/// Largest ratio of the memory that strides span to the number of elements.
constexpr int64_t kMostSpread = 16;

}  // namespace

bool can_keep_strides(IntArrayRef sizes, IntArrayRef strides) {
  if (sizes.size() != strides.size()) return false;
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride and size of dims neither 1 nor expanded
  int64_t count = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0 || strides[i] < 0) return false;
    if (sizes[i] == 1 || strides[i] == 0) continue;
    dims.emplace_back(strides[i], sizes[i]);
    count *= sizes[i];
  }
  std::sort(dims.begin(), dims.end());
  const int64_t most = count * kMostSpread;
  int64_t span = 1;  // of the dimensions so far, in elements
  for (const auto& [stride, size] : dims) {
    if (stride < span || size - 1 > (most - span) / stride) return false;
    span += (size - 1) * stride;
  }
  return true;
}

Tensor copy_with_strides(const Tensor& tensor, IntArrayRef strides) {
  Tensor copy = empty_strided(tensor.sizes(), strides, tensor.options());
  // In an expanded dimension, only the first element is written.
  Tensor to = copy, from = tensor;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (strides[static_cast<size_t>(dim)] != 0 || tensor.size(dim) < 2) continue;
    to = to.narrow(dim, 0, 1);
    from = from.narrow(dim, 0, 1);
  }
  to.copy_(from);
  return copy;
}

}  // namespace hearth::serialize
