#pragma once

#include "core/op.h"

namespace hearth {

/// Throws unless an index tensor has the dtype int32 or int64, or no elements.
void check_index(const char* op, const TensorImpl& index);
/// Throws unless index and `other` have the same number of dimensions; the message calls `other`
/// the `role` tensor.
void check_same_dims(const char* op, const TensorImpl& index, const TensorImpl& other,
                     const char* role);
/// The first dimension but `dim` in which index is larger than `other`, or -1.
int misfit(const TensorImpl& index, const TensorImpl& other, int64_t dim);

/// Expands a 1-d index along `dim` to the sizes of `slices`, with stride 0 elsewhere, as gather and
/// scatter take it (index_select, index_add).
View over_slices(const View& index, View slices, int64_t dim);

}  // namespace hearth
