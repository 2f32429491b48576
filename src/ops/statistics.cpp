// Variances, norms and logsumexp.
#include <cmath>
#include <limits>

#include "ops/composed_out.h"
#include "ops/norm_functor.h"
#include "ops/pointwise_named.h"
#include "ops/promote.h"
#include "ops/reduce.h"

namespace hearth {

namespace {

struct VarArgs {
  DimSet dim;
  double correction;
  bool keepdim;
  HEARTH_FIELDS(dim, correction, keepdim)
  double divisor(IntArrayRef sizes) const {
    return std::max(0.0, reduced_count(sizes, dim.bits) - correction);
  }
};

/// var, and std as its root.
template <bool root>
struct VarOp {
  using Args = VarArgs;
  static constexpr OpInfo info{.name = root ? "std" : "var",
                               .dtypes = dtypes::kFloating,
                               .saves = root ? in_slot(0) | out_slot(0) : in_slot(0)};
  static void infer(const Args& args, InferContext& context) { infer_reduced(args, context); }
  static void launch(const Args& args, LaunchContext& context) {
    using Functor = std::conditional_t<root, fn::Std, fn::Var>;
    ReduceParams params =
        reduce_params(Functor(args.divisor(context.in_impl(0).sizes())), context.in(0),
                      keep_dims(context.out(), context.in(0), args.dim.bits, args.keepdim));
    // As in PyTorch, so that squares of distances stay in range.
    if (context.ctx.device().is_cpu()) params.compute = kDouble;
    run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    const Tensor in = context.in(0);
    const Dims kept_sizes = reduced_sizes(in.sizes(), args.dim.bits, true);
    Tensor grad = context.grad().reshape(kept_sizes);
    if constexpr (root) {
      const Tensor out = context.out().reshape(kept_sizes), is_zero = out.eq(0);
      grad = where(is_zero, 0, grad.div(where(is_zero, 1, out).mul(2)));
    }
    const ScalarType type = in.scalar_type();
    const Tensor sum = in.to(wide_type(type)).sum_to_size(kept_sizes);
    const Tensor mean = sum.div(reduced_count(in.sizes(), args.dim.bits)).to(type);
    context.set(0, in.sub(mean).mul(grad.mul(2 / args.divisor(in.sizes()))));
  }
};

/// The variance of complex numbers is the sum of the variances of their parts.
template <bool root>
Tensor complex_variance(const VarArgs& args, const Tensor& self) {
  const Tensor of_real = invoke<VarOp<false>>(args, real(self)).call();
  const Tensor sum = of_real.add(invoke<VarOp<false>>(args, imag(self)).call());
  if constexpr (root) {
    const Tensor is_zero = sum.eq(0);  // there the gradient is 0
    return where(is_zero, sum.detach(), where(is_zero, 1, sum).sqrt());
  }
  return sum;
}

/// var or std.
template <bool root>
auto variance(const VarArgs& args, const Tensor& self) {
  return pick(self.is_complex(),
              composed(VarOp<root>::info.name,
                       [args, &self] { return complex_variance<root>(args, self); }),
              invoke<VarOp<root>>(args, self));
}

template <bool root>
struct VarMean {
  using Args = VarArgs;
  static constexpr OpInfo info{.name = root ? "std_mean" : "var_mean"};
  static TensorPair compute(const Args& args, const Tensor& self) {
    const Tensor result = variance<root>(args, self).call();
    const uint32_t all_dims = (1u << self.dim()) - 1;
    Dims dims;
    for (int64_t d = 0; d < self.dim(); ++d)
      if (args.dim.bits >> d & 1u) dims.push_back(d);
    return {result, args.dim.bits == all_dims && !args.keepdim
                        ? self.mean()
                        : self.mean(OptionalIntArrayRef(IntArrayRef(dims)), args.keepdim)};
  }
};

VarArgs var_args(const char* op, const Tensor& self, OptionalIntArrayRef dim, double correction,
                 bool keepdim) {
  const bool is_var_or_std = op == std::string_view("var") || op == std::string_view("std");
  HEARTH_CHECK_AS(NotImplementedError, is_differentiable(self.scalar_type()),
                  is_var_or_std ? "std and var" : op,
                  " only support floating point and complex dtypes");
  const uint32_t mask = dim_mask(self, dim);
  if (self.numel() == 0 || reduced_count(self.sizes(), mask) <= correction)
    warn(detail::str(op,
                     "(): degrees of freedom is <= 0. Correction should be strictly less than the "
                     "reduction factor (input numel divided by output numel)."));
  return {{mask}, correction, keepdim};
}

double correction_of(const std::optional<Scalar>& correction) {
  return correction ? correction->toDouble() : 1;
}

struct LogSumExp {
  using Args = ReduceArgs;
  static constexpr OpInfo info{.name = "logsumexp",
                               .dtypes = dtypes::kFloating,
                               .amp = Amp::kFloat32,
                               .amp_cpu = Amp::kKeep,
                               .saves = in_slot(0) | out_slot(0)};
  static void infer(const Args& args, InferContext& context) { infer_reduced(args, context); }
  static void launch(const Args& args, LaunchContext& context) {
    run_reduction(fn::LogSumExp{}, args, context);
  }
  static void grad(const Args& args, GradContext& context) {
    const Tensor in = context.in(0);
    const Dims kept_sizes = reduced_sizes(in.sizes(), args.dim.bits, true);
    context.set(
        0, in.sub(context.out().reshape(kept_sizes)).exp().mul(context.grad().reshape(kept_sizes)));
  }
};

Tensor as_floating(const Tensor& self) {
  return is_integral(self.scalar_type(), true) ? self.to(get_default_dtype()) : self;
}

struct NormArgs {
  double ord;
  DimSet dim;
  bool keepdim;
  HEARTH_FIELDS(ord, dim, keepdim)
};

/// The norm of any order over some dimensions.
struct VectorNorm {
  using Args = NormArgs;
  static constexpr OpInfo info{.name = "linalg_vector_norm",
                               .dtypes = dtypes::kFloating,
                               .amp = Amp::kFloat32,
                               .amp_cpu = Amp::kKeep,
                               .saves = in_slot(0) | out_slot(0)};
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl& in = context.in(0);
    if (args.ord < 0 || std::isinf(args.ord)) check_identity(args, in);
    infer_reduced(args, context);
  }
  /// Norms of negative or infinite order are not defined over empty dimensions.
  static void check_identity(const Args& args, const TensorImpl& in) {
    const bool reduces_all = args.dim.bits == (1u << in.dim) - 1;
    HEARTH_CHECK(!reduces_all || in.numel > 0, "linalg.vector_norm cannot compute the ", args.ord,
                 " norm on an empty tensor because the operation does not have an identity");
    for (size_t d = 0; d < in.sizes().size(); ++d)
      HEARTH_CHECK(!(args.dim.bits >> d & 1u) || in.sizes()[d] > 0,
                   "linalg.vector_norm cannot compute the ", args.ord, " norm on the dimension ", d,
                   "because this dimension is empty and the operation does not have an identity");
  }
  static void launch(const Args& args, LaunchContext& context) {
    with_norm_functor(args.ord, [&](auto norm) { run_reduction(norm, args, context); });
  }
  static void grad(const Args& args, GradContext& context) {
    if (args.ord == 0) return;
    const Tensor in = context.in(0), sign = in.sign();
    const Dims kept_sizes = reduced_sizes(in.sizes(), args.dim.bits, true);
    const Tensor grad = context.grad().reshape(kept_sizes),
                 norm = context.out().reshape(kept_sizes);
    if (args.ord == 1) return context.set(0, sign.mul(grad));
    if (std::isinf(args.ord)) {
      const Tensor ties = in.abs().eq(norm).to(in.scalar_type());
      const Tensor count = ties.sum_to_size(kept_sizes).clamp_min(1);  // 0 if the norm is NaN
      return context.set(0, sign.mul(ties).mul(grad.div(count)));
    }
    const Tensor safe_norm = where(norm.eq(0), 1, norm);
    if (args.ord == 2) return context.set(0, in.mul(grad.div(safe_norm)));
    const Tensor power = where(in.eq(0), 1, in.abs()).pow(args.ord - 1);
    // Where the norm of a negative order is 0, the other elements have no influence.
    const Tensor slope = grad.mul(safe_norm.pow(1 - args.ord)).masked_fill(norm.eq(0), 0);
    context.set(0, sign.mul(power).mul(slope));
  }
};

/// The overloads of norm, which PyTorch numbers in grad_fn's name.
template <const OpInfo& op_info>
struct NumberedNorm : VectorNorm {
  static constexpr OpInfo info = op_info;
};
constexpr OpInfo kNorm = with_node(VectorNorm::info, "NormBackward0"),
                 kNormDim = with_node(VectorNorm::info, "NormBackward1"),
                 kNormDtype = with_node(VectorNorm::info, "NormBackward2"),
                 kNormDimDtype = with_node(VectorNorm::info, "NormBackward3");

/// The input of a norm, checked and converted.
Tensor norm_input(const Tensor& self, std::optional<ScalarType> dtype) {
  constexpr const char* kWhere = "linalg.vector_norm: ";
  const ScalarType type = self.scalar_type();
  HEARTH_CHECK_AS(NotImplementedError, is_differentiable(type), kWhere,
                  "Expected a floating point or complex tensor as input. Got ", name_of(type));
  HEARTH_CHECK(!dtype || is_differentiable(*dtype), kWhere,
               "dtype should be floating point or complex, but got ",
               name_of(dtype.value_or(type)));
  HEARTH_CHECK(!dtype || is_complex(*dtype) == self.is_complex(), kWhere, "dtype should be ",
               self.is_complex() ? "complex for complex inputs" : "real for real inputs",
               ", but got ", name_of(dtype.value_or(type)));
  HEARTH_CHECK(!dtype || promote_types(type, *dtype) == *dtype, kWhere, "the dtype of the input (",
               name_of(type), ") should be convertible without narrowing to the specified dtype (",
               name_of(dtype.value_or(type)), ")");
  return in_dtype(self, dtype);
}

NormArgs norm_args(const Tensor& self, const std::optional<Scalar>& p, OptionalIntArrayRef dim,
                   bool keepdim) {
  return {p ? p->toDouble() : 2, {dim_mask(self, dim)}, keepdim};
}

/// norm_input, with norm's error if the input's dtype is neither floating nor complex.
Tensor plain_norm_input(const Tensor& self, std::optional<ScalarType> dtype) {
  HEARTH_CHECK_AS(NotImplementedError, is_differentiable(self.scalar_type()),
                  "norm(): input dtype should be either floating point or complex. Got ",
                  name_of(self.scalar_type()), " instead.");
  return norm_input(self, dtype);
}

/// Computes the Euclidean norm of complex numbers from their parts, so that its second derivative
/// is right at zeros too, and other norms from the absolute values.
template <class Op>
Tensor complex_norm(const NormArgs& args, const Tensor& input) {
  if (args.ord != 2) return invoke<Op>(args, input.abs()).call();
  NormArgs of_parts = args;
  of_parts.dim.bits |= 1u << input.dim();
  const Tensor norm = invoke<Op>(of_parts, view_as_real(input)).call();
  return args.keepdim ? norm.squeeze(-1) : norm;
}

/// The norm of an input from norm_input.
template <class Op>
auto norm_of(const Tensor& input, const std::optional<Scalar>& p, OptionalIntArrayRef dim,
             bool keepdim) {
  const NormArgs args = norm_args(input, p, dim, keepdim);
  return pick(input.is_complex(),
              composed(Op::info.name, [args, &input] { return complex_norm<Op>(args, input); }),
              invoke<Op>(args, input));
}

}  // namespace

#define HEARTH_DEFINE_VARIANCE(name, root)                                                         \
  HEARTH_DEFINE_METHOD(Tensor, name, (bool unbiased),                                              \
                       variance<root>(var_args(#name, self, {}, unbiased, false), self).call())    \
  HEARTH_DEFINE_METHOD(Tensor, name, (int dim),                                                    \
                       variance<root>(var_args(#name, self, int64_t{dim}, 1, false), self).call()) \
  HEARTH_DEFINE_OUT(name, (OptionalIntArrayRef dim, bool unbiased, bool keepdim),                  \
                    variance<root>(var_args(#name, self, dim, unbiased, keepdim), self))           \
  HEARTH_DEFINE_OUT(                                                                               \
      name, (OptionalIntArrayRef dim, const std::optional<Scalar>& correction, bool keepdim),      \
      variance<root>(var_args(#name, self, dim, correction_of(correction), keepdim), self))        \
  TensorPair name##_mean(const Tensor& self, bool unbiased) {                                      \
    return compose<VarMean<root>>(var_args(#name "_mean", self, {}, unbiased, false), self);       \
  }                                                                                                \
  TensorPair name##_mean(const Tensor& self, int dim) {                                            \
    return compose<VarMean<root>>(var_args(#name "_mean", self, int64_t{dim}, 1, false), self);    \
  }                                                                                                \
  TensorPair name##_mean(const Tensor& self, OptionalIntArrayRef dim, bool unbiased,               \
                         bool keepdim) {                                                           \
    return compose<VarMean<root>>(var_args(#name "_mean", self, dim, unbiased, keepdim), self);    \
  }                                                                                                \
  TensorPair name##_mean(const Tensor& self, OptionalIntArrayRef dim,                              \
                         const std::optional<Scalar>& correction, bool keepdim) {                  \
    return compose<VarMean<root>>(                                                                 \
        var_args(#name "_mean", self, dim, correction_of(correction), keepdim), self);             \
  }
HEARTH_DEFINE_VARIANCE(var, false)
HEARTH_DEFINE_VARIANCE(std, true)
#undef HEARTH_DEFINE_VARIANCE

HEARTH_DEFINE_OUT(logsumexp, (IntArrayRef dim, bool keepdim),
                  invoke<LogSumExp>(reduce_args(self, dim, keepdim), as_floating(self)))

HEARTH_DEFINE_COMPOSED_OUT(
    norm, (const Scalar& p),
    norm_of<NumberedNorm<kNorm>>(plain_norm_input(self, {}), p, {}, false).call())
HEARTH_DEFINE_COMPOSED_OUT(
    norm, (const std::optional<Scalar>& p, ScalarType dtype),
    norm_of<NumberedNorm<kNormDtype>>(plain_norm_input(self, dtype), p, {}, false).call())
HEARTH_DEFINE_OUT(norm, (const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim),
                  norm_of<NumberedNorm<kNormDim>>(plain_norm_input(self, {}), p, dim, keepdim))
HEARTH_DEFINE_COMPOSED_OUT(
    norm, (const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim, ScalarType dtype),
    norm_of<NumberedNorm<kNormDimDtype>>(plain_norm_input(self, dtype), p, dim, keepdim).call())
Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim,
                          bool keepdim, std::optional<ScalarType> dtype) {
  return norm_of<VectorNorm>(norm_input(self, dtype), ord, dim, keepdim).call();
}
Tensor& linalg_vector_norm_out(Tensor& out, const Tensor& self, const Scalar& ord,
                               OptionalIntArrayRef dim, bool keepdim,
                               std::optional<ScalarType> dtype) {
  return norm_of<VectorNorm>(norm_input(self, dtype), ord, dim, keepdim).out(out);
}

}  // namespace hearth
