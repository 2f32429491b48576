#pragma once

#include "core/op.h"

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

}  // namespace hearth
