#pragma once

#include <vector>

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// One dimension of a tensor that is indexed by a tensor.
struct IndexedDim {
  View index;          // int64 or int32, over the result's sizes; stride 0 where it does not vary
  int64_t size = 0;    // of the indexed dimension; an index is valid in [-size, size)
  int64_t stride = 0;  // of the indexed dimension, in elements
  int dim = 0;         // its number in the indexed tensor, for the fault
};

/// A tensor indexed by tensors, laid over the result's positions p:
///   address(p) = kept.data + sum over d of p[d] * kept.strides[d] + sum over i of indices[i](p) *
///   stride_i.
/// `kept` has the result's sizes: the tensor's own strides in dimensions that were not indexed,
/// stride 0 in those that came from the indices.
struct IndexLayout {
  View kept;
  std::vector<IndexedDim> indices;
};

/// The layout of self[indices]. indices[d] belongs to dimension d: an undefined View (and a missing
/// one at the end) keeps it whole, the defined ones (at least one) share one shape, already
/// broadcast. As in PyTorch that shape takes the place of the indexed dimensions if they are
/// neighbours, else it comes first. The result must have at most kMaxDims dimensions (the caller
/// checks).
IndexLayout index_layout(const View& self, const std::vector<View>& indices);

/// out[p] = from(p). An index out of range is a kIndexOutOfRange fault (index, dim, size).
struct IndexParams {
  IndexLayout from;
  View out;  // of the result's sizes, from.kept's dtype
};

/// to(p) = values[p], or to(p) += values[p] if accumulate (bool adds as "or", integers wrap). Where
/// several positions name one element, they act in row-major order (on devices: in any, unless
/// `deterministic`). After a fault the tensor is as it was (on devices: unspecified).
struct IndexPutParams {
  IndexLayout to;
  View values;  // of the result's sizes (stride 0 where broadcast), to.kept's dtype
  bool accumulate = false;
  bool deterministic = false;  // the same bits in every run
};

namespace cpu {
void run(const IndexParams& params, Ctx& ctx);
void run(const IndexPutParams& params, Ctx& ctx);
}  // namespace cpu
namespace cuda {
void run(const IndexParams& params, Ctx& ctx);
void run(const IndexPutParams& params, Ctx& ctx);
}  // namespace cuda

}  // namespace hearth
