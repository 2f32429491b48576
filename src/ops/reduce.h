#pragma once

#include "core/op.h"

namespace hearth {

/// Which dimensions are reduced (bit d), and whether they stay with size 1.
struct ReduceArgs {
  DimSet dim;
  bool keepdim;
  ScalarType dtype;  // of the result; Undefined: as the input's decides
  HEARTH_FIELDS(dim, keepdim, dtype)
};

/// The dimensions as a set; none given means all.
uint32_t dim_mask(const Tensor& self, OptionalIntArrayRef dims);
ReduceArgs reduce_args(const Tensor& self, OptionalIntArrayRef dims, bool keepdim,
                       ScalarType dtype = ScalarType::Undefined);

/// The result's sizes; with keepdim as the kernels want them, 1 where reduced.
Dims reduced_sizes(IntArrayRef sizes, uint32_t mask, bool keepdim);
/// How many elements make up one of the result's.
double reduced_count(IntArrayRef sizes, uint32_t mask);
/// "amax(): Expected reduction dim 1 to have non-zero size." if there would be results of nothing.
void check_not_empty(const char* op, const TensorImpl& in, uint32_t mask);

/// Gives an output without its reduced dimensions back the input's number of dimensions.
View keep_dims(View out, const View& in, uint32_t mask, bool kept);

/// A gradient of the result's shape, seen at the input's.
Tensor spread(const Tensor& grad, IntArrayRef sizes, uint32_t mask);

/// The gradient of what picked elements along dim: each result's goes to where index says it came
/// from. `sizes` are the input's; the index may lack the dimension.
Tensor picked_grad(const Tensor& grad, const Tensor& index, IntArrayRef sizes, int64_t dim);

/// self in the dtype, or as it is.
Tensor in_dtype(const Tensor& self, std::optional<ScalarType> dtype);
/// The dtype of sums and products: int64 for integers and bools unless one is asked for.
ScalarType sum_dtype(const Tensor& self, std::optional<ScalarType> dtype);

}  // namespace hearth
