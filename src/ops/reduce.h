#pragma once

#include "core/op.h"
#include "seam/reduce.h"

namespace hearth {

/// The reduced dimensions, and whether they stay with size 1.
struct ReduceArgs {
  DimSet dim;
  bool keepdim;
  ScalarType dtype;  // of the result; Undefined: follows from the input's
  HEARTH_FIELDS(dim, keepdim, dtype)
};

/// The dimensions as a set, with bit d for dimension d; none given means all. The functions below
/// take it as `mask`.
uint32_t dim_mask(const Tensor& self, OptionalIntArrayRef dims);
ReduceArgs reduce_args(const Tensor& self, OptionalIntArrayRef dims, bool keepdim,
                       ScalarType dtype = ScalarType::Undefined);

/// The result's sizes; with keepdim, 1 for the reduced dimensions.
Dims reduced_sizes(IntArrayRef sizes, uint32_t mask, bool keepdim);
/// The number of elements that are reduced to one.
double reduced_count(IntArrayRef sizes, uint32_t mask);
/// Throws "amax(): Expected reduction dim 1 to have non-zero size." if a reduced dimension is
/// empty.
void check_not_empty(const char* op, const TensorImpl& in, uint32_t mask);

/// The output with its reduced dimensions, of size 1, as kernels expect it.
View keep_dims(View out, const View& in, uint32_t mask, bool kept);

/// One output: input 0 reduced, in its dtype unless another is given.
template <class Args>
void infer_reduced(const Args& args, InferContext& context,
                   ScalarType dtype = ScalarType::Undefined) {
  const TensorImpl& in = context.in(0);
  context.set(0, reduced_sizes(in.sizes(), args.dim.bits, args.keepdim),
              dtype == ScalarType::Undefined ? in.dtype : dtype);
}
/// Reduces input 0 to output 0.
template <class Functor, class Args>
void run_reduction(const Functor& functor, const Args& args, LaunchContext& context) {
  run_kernel(context.ctx,
             reduce_params(functor, context.in(0),
                           keep_dims(context.out(), context.in(0), args.dim.bits, args.keepdim)));
}

/// A gradient of the result, expanded to the input's sizes.
Tensor spread(const Tensor& grad, IntArrayRef sizes, uint32_t mask);

/// The gradient of an op that picks elements along dim: each result's gradient goes to the element
/// that index names. `sizes` are the input's; the index may lack the dimension.
Tensor picked_grad(const Tensor& grad, const Tensor& index, IntArrayRef sizes, int64_t dim);

/// The gradient of an op that returns one element, `value`: elements of `in` equal to it get equal
/// shares.
Tensor shared_by_ties(const Tensor& grad, const Tensor& in, const Tensor& value);

/// self converted to the dtype, if one is given.
Tensor in_dtype(const Tensor& self, std::optional<ScalarType> dtype);
/// The dtype of sums and products: the given one, else int64 for integers and bools, else self's.
ScalarType sum_dtype(const Tensor& self, std::optional<ScalarType> dtype);

}  // namespace hearth
