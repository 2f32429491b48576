#pragma once

#include <vector>

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// A dimension that is indexed by a tensor.
struct IndexedDim {
  View index;          // int64 or int32, with the result's sizes; stride 0 where it does not vary
  int64_t size = 0;    // of the indexed dimension; valid indices are in [-size, size)
  int64_t stride = 0;  // of the indexed dimension, in elements
  int dim = 0;         // the dimension's number in the indexed tensor, for the fault
};

/// The addresses of the elements that `indices` select, for the positions p of the result, with
/// strides in elements:
///   `address(p) = origin.data + sum_d(p[d] * origin.strides[d])
///                 + sum_i(indices[i].index[p] * indices[i].stride)`.
/// `origin` has the result's sizes, the tensor's own strides in dimensions that are not indexed,
/// and stride 0 in dimensions of the indices.
struct IndexLayout {
  View origin;
  std::vector<IndexedDim> indices;
};

/// The layout of self[indices]. indices[d] indexes dimension d; a dimension whose entry is
/// undefined, or missing at the end, is not indexed. At least one index is defined, and the defined
/// indices are already broadcast to one shape. As in PyTorch, this shape replaces the indexed
/// dimensions if they are adjacent, else it comes first. The caller checks that the result has at
/// most kMaxDims dimensions.
IndexLayout index_layout(const View& self, const std::vector<View>& indices);

/// out[p] = the element at address(p) of `from`. An index out of range is a kIndexOutOfRange fault
/// (index, dim, size).
struct IndexParams {
  IndexLayout from;
  View out;  // the result's sizes, from.origin's dtype
};

/// Writes values[p] to the element at address(p) of `to`, or adds it if `accumulate` (bool adds as
/// "or", integers wrap, half types add in float32). Writes to the same element happen in row-major
/// order of p (on GPUs: in any order, unless `deterministic`). After a fault the tensor is
/// unchanged (on GPUs: unspecified).
struct IndexPutParams {
  IndexLayout to;
  View values;  // the result's sizes (stride 0 where broadcast), to.origin's dtype
  bool accumulate = false;
  bool deterministic = false;  // the same bits in every run
};

}  // namespace hearth
