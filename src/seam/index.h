#pragma once

#include <vector>

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// One dimension of a tensor that is indexed by a tensor.
struct IndexedDim {
  View index;          // int64 or int32, with the result's sizes; stride 0 where it does not vary
  int64_t size = 0;    // of the indexed dimension; valid indices are in [-size, size)
  int64_t stride = 0;  // of the indexed dimension, in elements
  int dim = 0;         // the dimension's number in the indexed tensor, for the fault
};

/// The addresses of a tensor's elements, indexed by tensors, for the positions p of the result:
///   address(p) = kept.data + sum over d of p[d] * kept.strides[d] + sum over i of indices[i](p) *
///   stride_i.
/// `kept` has the result's sizes, the tensor's own strides in dimensions that were not indexed, and
/// stride 0 in dimensions of the indices.
struct IndexLayout {
  View kept;
  std::vector<IndexedDim> indices;
};

/// The layout of self[indices]. indices[d] indexes dimension d; where it is undefined, or missing
/// at the end, the dimension stays whole. At least one is defined, and the defined ones are already
/// broadcast to one shape. As in PyTorch, that shape replaces the indexed dimensions if they are
/// adjacent, else it comes first. The caller checks that the result has at most kMaxDims
/// dimensions.
IndexLayout index_layout(const View& self, const std::vector<View>& indices);

/// out[p] = from(p). An index out of range is a kIndexOutOfRange fault (index, dim, size).
struct IndexParams {
  IndexLayout from;
  View out;  // the result's sizes, from.kept's dtype
};

/// to(p) = values[p], or to(p) += values[p] if accumulate (bool adds as "or", integers wrap).
/// Writes to the same element happen in row-major order of p (on devices: in any order, unless
/// `deterministic`). After a fault the tensor is unchanged (on devices: unspecified).
struct IndexPutParams {
  IndexLayout to;
  View values;  // the result's sizes (stride 0 where broadcast), to.kept's dtype
  bool accumulate = false;
  bool deterministic = false;  // the same bits in every run
};

}  // namespace hearth
