#pragma once

#include <optional>

#include "core/op.h"
#include "hearth/error.h"

namespace hearth {

/// Throws unless an index tensor has the dtype int32 or int64, or no elements.
void check_index(const char* op, const TensorImpl& index);
/// Throws unless index and `other` have the same number of dimensions; the message calls `other`
/// the `role` tensor.
void check_same_dims(const char* op, const TensorImpl& index, const TensorImpl& other,
                     const char* role);
/// The first dimension except `dim` in which index is larger than `other`, or -1.
int first_larger_dim(const TensorImpl& index, const TensorImpl& other, int64_t dim);

/// Expands the index of index_select or index_add, a vector or a number, to the sizes of `slices`,
/// with stride 0 except along `dim`, for the kernels of gather and scatter.
View expand_to_slices(const View& index, const View& slices, int64_t dim);

/// The first element of a CPU tensor of indices that is not in [low, high).
std::optional<int64_t> first_outside(const Tensor& index, int64_t low, int64_t high);

/// Returns f(). If it fails and the first_outside of [low, high) exists, calls fail(it), which
/// throws PyTorch's error.
template <class F, class Fail>
Tensor with_index_error(const Tensor& index, int64_t low, int64_t high, F f, Fail fail) {
  try {
    return f();
  } catch (const Error&) {
    if (index.is_cpu())
      if (const std::optional<int64_t> bad = first_outside(index, low, high)) fail(*bad);
    throw;
  }
}

}  // namespace hearth
