// The largest and smallest elements and their indices.
#include "functors/bounds.h"
#include "ops/binding.h"
#include "ops/composed_out.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"
#include "seam/minmax_dim.h"

namespace hearth {

namespace {

/// The extreme of all elements; ties share the gradient. op_name is "max" or "min".
template <class Functor, const char* const& op_name>
struct ExtremeOp {
  using Args = ReduceArgs;
  static constexpr OpInfo info{
      .name = op_name,
      .node = op_name[1] == 'a' ? "MaxBackward1" : "MinBackward1",  // numbered as PyTorch does
      .dtypes = dtypes::kRealAndBool,
      .saves = in_slot(0) | out_slot(0)};
  static void infer(const Args& args, InferContext& context) {
    HEARTH_CHECK(context.in(0).numel > 0, op_name,
                 "(): Expected reduction dim to be specified for input.numel() == 0. "
                 "Specify the reduction dim with the 'dim' argument.");
    infer_reduced(args, context);
  }
  static void launch(const Args& args, LaunchContext& context) {
    run_reduction(Functor{}, args, context);
  }
  static void grad(const Args&, GradContext& context) {
    context.set(0, shared_by_ties(context.grad(), context.in(0), context.out()));
  }
};
constexpr const char* kMax = "max";
constexpr const char* kMin = "min";

struct MinMaxArgs {
  int64_t dim;
  bool keepdim;
  HEARTH_FIELDS(dim, keepdim)
};

/// The largest or smallest element along a dimension, and its index.
template <bool largest>
struct MinMaxDimOp {
  using Args = MinMaxArgs;
  static constexpr OpInfo info{.name = largest ? "max_dim" : "min_dim",
                               .node = largest ? "Max" : "Min",
                               .dtypes = dtypes::kRealAndBool,
                               .saves = out_slot(1),
                               .outputs = 2,
                               .non_differentiable = out_slot(1)};
  static uint32_t mask(const Args& args, int dims) { return dims == 0 ? 0 : 1u << args.dim; }
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl& in = context.in(0);
    HEARTH_CHECK_AS(IndexError, in.dim == 0 || in.sizes()[size_t(args.dim)] > 0,
                    largest ? "max" : "min", "(): Expected reduction dim ", args.dim,
                    " to have non-zero size.");
    const Dims sizes = reduced_sizes(in.sizes(), mask(args, in.dim), args.keepdim);
    context.set(0, sizes, in.dtype);
    context.set(1, sizes, kLong);
  }
  static void launch(const Args& args, LaunchContext& context) {
    MinMaxDimParams params;
    params.in = context.in(0);
    const uint32_t dims = mask(args, params.in.dim);
    params.values = keep_dims(context.out(0), params.in, dims, args.keepdim);
    params.indices = keep_dims(context.out(1), params.in, dims, args.keepdim);
    params.dim = int(args.dim);
    params.largest = largest;
    run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    context.set(0, picked_grad(context.grad(), context.out(1), context.in_sizes(0), args.dim));
  }
};

/// amax and amin: ties share the gradient.
template <class Functor, const char* const& op_name>
struct ExtremesOp {
  using Args = ReduceArgs;
  static constexpr OpInfo info{
      .name = op_name, .dtypes = dtypes::kRealAndBool, .saves = in_slot(0) | out_slot(0)};
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl& in = context.in(0);
    check_not_empty(op_name, in, args.dim.bits);
    infer_reduced(args, context);
  }
  static void launch(const Args& args, LaunchContext& context) {
    run_reduction(Functor{}, args, context);
  }
  static void grad(const Args& args, GradContext& context) {
    const Tensor in = context.in(0);
    const Dims kept_sizes = reduced_sizes(in.sizes(), args.dim.bits, true);
    const Tensor ties = in.eq(context.out().reshape(kept_sizes)).to(in.scalar_type());
    const Tensor num_ties = ties.sum_to_size(kept_sizes);
    context.set(0, ties.mul(context.grad().reshape(kept_sizes).div(num_ties)));
  }
};
constexpr const char* kAmax = "amax";
constexpr const char* kAmin = "amin";
/// The arguments of amax and amin; no dimensions mean all, if the input has elements.
ReduceArgs extreme_args(const char* op, const Tensor& self, IntArrayRef dim, bool keepdim) {
  HEARTH_CHECK(!dim.empty() || self.numel() > 0, op,
               "(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
               "reduction dim with the 'dim' argument.");
  return reduce_args(self, dim, keepdim);
}
using AmaxOp = ExtremesOp<fn::Max, kAmax>;
using AminOp = ExtremesOp<fn::Min, kAmin>;

struct Aminmax {
  using Args = ReduceArgs;
  static constexpr OpInfo info{.name = "aminmax"};
  static TensorPair compute(const Args& args, const Tensor& self) {
    return {invoke<AminOp>(args, self).call(), invoke<AmaxOp>(args, self).call()};
  }
};

TensorPair aminmax_of(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  const ReduceArgs args =
      reduce_args(self, dim ? OptionalIntArrayRef(*dim) : OptionalIntArrayRef(), keepdim);
  if (!dim)
    HEARTH_CHECK(self.numel() > 0,
                 "aminmax(): cannot compute aminmax over an empty dimension as the operation has "
                 "no identity.");
  else if (self.dim() > 0)
    HEARTH_CHECK_AS(IndexError, self.size(*dim) > 0, "aminmax: Expected reduction dim ",
                    wrap_dim(*dim, self.dim()), " to have non-zero size.");
  return compose<Aminmax>(args, self);
}

/// The index of the extreme element along a dimension or, if dim is -1, of all elements.
template <bool largest>
struct ArgExtreme {
  using Args = MinMaxArgs;
  static constexpr const char* kName = largest ? "argmax" : "argmin";
  static constexpr OpInfo info{
      .name = kName, .dtypes = dtypes::kReal, .non_differentiable = out_slot(0)};
  static uint32_t mask(const Args& args, int dims) {
    return args.dim < 0 || dims == 0 ? (1u << dims) - 1 : 1u << args.dim;
  }
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl& in = context.in(0);
    HEARTH_CHECK_AS(IndexError, args.dim >= 0 || in.numel > 0, kName,
                    "(): Expected reduction dim to be specified for input.numel() == 0.");
    check_not_empty(kName, in, mask(args, in.dim));
    context.set(0, reduced_sizes(in.sizes(), mask(args, in.dim), args.keepdim), kLong);
  }
  static void launch(const Args& args, LaunchContext& context) {
    MinMaxDimParams params;
    params.in = context.in(0);
    if (args.dim < 0) {  // contiguous: see arg_input
      params.in.dim = 1;
      params.in.sizes[0] = params.in.numel;
      params.in.strides[0] = 1;
    }
    params.indices =
        keep_dims(context.out(), params.in, args.dim < 0 ? 1u : mask(args, params.in.dim),
                  args.keepdim && args.dim >= 0);
    params.dim = std::max(0, int(args.dim));
    params.largest = largest;
    run_kernel(context.ctx, params);
  }
};

/// The input, contiguous if all its elements are reduced: ArgExtreme then views it as a vector.
Tensor arg_input(const char* op, const Tensor& self, bool reduces_all) {
  HEARTH_CHECK_AS(NotImplementedError, !self.is_complex() && self.scalar_type() != kBool, op,
                  "(): does not support ", self.is_complex() ? "complex" : "bool", " input");
  return reduces_all ? self.contiguous() : self;
}

MinMaxArgs arg_args(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return {dim ? wrap_dim(*dim, self.dim()) : -1, keepdim};
}

using MaxOp = ExtremeOp<fn::Max, kMax>;
using MinOp = ExtremeOp<fn::Min, kMin>;

}  // namespace

HEARTH_DEFINE_OUT(max, (), invoke<MaxOp>(reduce_args(self, {}, false), self))
HEARTH_DEFINE_OUT(min, (), invoke<MinOp>(reduce_args(self, {}, false), self))
HEARTH_DEFINE_PAIR(max, (int64_t dim, bool keepdim),
                   invoke<MinMaxDimOp<true>>({wrap_dim(dim, self.dim()), keepdim}, self))
HEARTH_DEFINE_PAIR(min, (int64_t dim, bool keepdim),
                   invoke<MinMaxDimOp<false>>({wrap_dim(dim, self.dim()), keepdim}, self))
HEARTH_DEFINE_OUT(max, (const Tensor& other), pointwise(fn::Maximum{}, self, other))
HEARTH_DEFINE_OUT(min, (const Tensor& other), pointwise(fn::Minimum{}, self, other))
HEARTH_DEFINE_OUT(amax, (IntArrayRef dim, bool keepdim),
                  invoke<AmaxOp>(extreme_args(kAmax, self, dim, keepdim), self))
HEARTH_DEFINE_OUT(amin, (IntArrayRef dim, bool keepdim),
                  invoke<AminOp>(extreme_args(kAmin, self, dim, keepdim), self))
HEARTH_DEFINE_METHOD(TensorPair, aminmax, (std::optional<int64_t> dim, bool keepdim),
                     aminmax_of(self, dim, keepdim))
TensorRefPair aminmax_out(Tensor& min, Tensor& max, const Tensor& self, std::optional<int64_t> dim,
                          bool keepdim) {
  if (min.defined() && max.defined())
    HEARTH_CHECK(!share_memory(impl_of(min), impl_of(max)),
                 "aminmax(): the `min` and `max` out= tensors must not overlap.");
  const auto [smallest, largest] = self.aminmax(dim, keepdim);
  write_out("aminmax", min, [&, value = smallest] { return value; });
  write_out("aminmax", max, [&, value = largest] { return value; });
  return {min, max};
}
HEARTH_DEFINE_OUT(argmax, (std::optional<int64_t> dim, bool keepdim),
                  invoke<ArgExtreme<true>>(arg_args(self, dim, keepdim),
                                           arg_input("argmax", self, !dim)))
HEARTH_DEFINE_OUT(argmin, (std::optional<int64_t> dim, bool keepdim),
                  invoke<ArgExtreme<false>>(arg_args(self, dim, keepdim),
                                            arg_input("argmin", self, !dim)))

}  // namespace hearth
