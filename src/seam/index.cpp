#include "seam/index.h"

#include <algorithm>

namespace hearth {

namespace {

/// The range of the indexed dimensions.
struct IndexedRange {
  int first = -1;  // the first and the last indexed dimension
  int last = -1;
  int num_indexed = 0;

  explicit IndexedRange(const std::vector<View>& indices) {
    for (int d = 0; d < static_cast<int>(indices.size()); ++d) {
      if (!indices[size_t(d)].defined()) continue;
      if (first < 0) first = d;
      last = d;
      ++num_indexed;
    }
  }
  /// The dimension of the result at which the indices' dimensions are inserted.
  int inserted_at() const { return last - first + 1 == num_indexed ? first : 0; }
};

void push_dim(View& view, int64_t size, int64_t stride) {
  view.sizes[view.dim] = size;
  view.strides[view.dim] = stride;
  ++view.dim;
  view.numel *= size;
}

}  // namespace

IndexLayout index_layout(const View& self, const std::vector<View>& indices) {
  const auto indexed = [&](int d) {
    return size_t(d) < indices.size() && indices[size_t(d)].defined();
  };
  const IndexedRange range(indices);
  const View& shape = indices[size_t(range.first)];

  IndexLayout layout;
  View& origin = layout.origin;
  origin.data = self.data;
  origin.dtype = self.dtype;
  origin.numel = 1;
  for (int d = 0; d <= self.dim; ++d) {
    if (d == range.inserted_at())
      for (int i = 0; i < shape.dim; ++i) push_dim(origin, shape.sizes[i], 0);
    if (d < self.dim && !indexed(d)) push_dim(origin, self.sizes[d], self.strides[d]);
  }
  for (int d = range.first; d <= range.last; ++d) {
    if (!indexed(d)) continue;
    View index = origin;
    index.data = indices[size_t(d)].data;
    index.dtype = indices[size_t(d)].dtype;
    std::fill_n(index.strides, index.dim, int64_t{0});
    std::copy_n(indices[size_t(d)].strides, shape.dim, index.strides + range.inserted_at());
    layout.indices.push_back({index, self.sizes[d], self.strides[d], d});
  }
  return layout;
}

}  // namespace hearth
