#include "ops/reduce.h"

#include "ops/composed_out.h"
#include "ops/copy.h"
#include "ops/create.h"
#include "ops/scan.h"
#include "ops/view_shape.h"

namespace hearth {

uint32_t dim_mask(const Tensor& self, OptionalIntArrayRef dims) {
  const int64_t ndim = self.dim();
  const uint32_t all = (1u << ndim) - 1;
  if (!dims || dims->empty()) return all;
  const uint32_t mask = dim_set(self, *dims).bits;
  return ndim == 0 ? 0 : mask;
}

ReduceArgs reduce_args(const Tensor& self, OptionalIntArrayRef dims, bool keepdim,
                       ScalarType dtype) {
  return {dim_mask(self, dims), keepdim, dtype};
}

Dims reduced_sizes(IntArrayRef sizes, uint32_t mask, bool keepdim) {
  Dims result;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!(mask >> d & 1u))
      result.push_back(sizes[d]);
    else if (keepdim)
      result.push_back(1);
  }
  return result;
}

double reduced_count(IntArrayRef sizes, uint32_t mask) {
  double product = 1;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (mask >> d & 1u) product *= double(sizes[d]);
  return product;
}

void check_not_empty(const char* op, const TensorImpl& in, uint32_t mask) {
  for (size_t d = 0; d < in.sizes().size(); ++d)
    HEARTH_CHECK_AS(IndexError, in.sizes()[d] > 0 || !(mask >> d & 1u), op,
                    "(): Expected reduction dim ", d, " to have non-zero size.");
}

View keep_dims(View out, const View& in, uint32_t mask, bool kept) {
  if (kept) return out;
  View full = out;
  full.dim = in.dim;
  int from = 0;
  for (int d = 0; d < in.dim; ++d) {
    const bool reduced = mask >> d & 1u;
    full.sizes[d] = reduced ? 1 : out.sizes[from];
    full.strides[d] = reduced ? 0 : out.strides[from];
    from += !reduced;
  }
  return full;
}

Tensor spread(const Tensor& grad, IntArrayRef sizes, uint32_t mask) {
  return grad.reshape(reduced_sizes(sizes, mask, true)).expand(sizes);
}

Tensor picked_grad(const Tensor& grad, const Tensor& index, IntArrayRef sizes, int64_t dim) {
  if (sizes.empty()) return grad.reshape(sizes);
  const bool is_dim_removed = index.dim() < int64_t(sizes.size());
  const auto whole = [&](const Tensor& t) { return is_dim_removed ? t.unsqueeze(dim) : t; };
  return zeros(sizes, grad.options()).scatter_add(dim, whole(index), whole(grad));
}

Tensor shared_by_ties(const Tensor& grad, const Tensor& in, const Tensor& value) {
  const Tensor ties = in.eq(value).logical_or(in.isnan().logical_and(value.isnan()));
  return ties.to(grad.scalar_type()).mul(grad.div(ties.sum()));
}

Tensor in_dtype(const Tensor& self, std::optional<ScalarType> dtype) {
  return dtype && *dtype != self.scalar_type() ? self.to(*dtype) : self;
}

ScalarType sum_dtype(const Tensor& self, std::optional<ScalarType> dtype) {
  return dtype.value_or(is_integral(self.scalar_type(), true) ? kLong : self.scalar_type());
}

namespace {

struct SumOp {
  using Args = ReduceArgs;
  static constexpr OpInfo info{.name = "sum",
                               .amp = Amp::kFloat32,
                               .amp_cpu = Amp::kKeep,
                               .complex_grad = ComplexGrad::kAnalytic};
  static void infer(const Args& args, InferContext& context) {
    const ScalarType in = context.in(0).dtype;
    const ScalarType usual = is_integral(in, true) ? kLong : in;
    infer_reduced(args, context, args.dtype == ScalarType::Undefined ? usual : args.dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    // A sum in bool is any().
    if (context.out_impl().dtype == kBool) return run_reduction(fn::Max{}, args, context);
    run_reduction(fn::Sum{}, args, context);
  }
  static void grad(const Args& args, GradContext& context) {
    context.set(0, spread(context.grad(), context.in_sizes(0), args.dim.bits));
  }
};

struct MeanOp {
  using Args = ReduceArgs;
  static constexpr OpInfo info{.name = "mean",
                               .dtypes = dtypes::kFloating | dtypes::kComplex,
                               .complex_grad = ComplexGrad::kAnalytic};
  static void infer(const Args& args, InferContext& context) { SumOp::infer(args, context); }
  static void launch(const Args& args, LaunchContext& context) {
    run_reduction(fn::Mean(reduced_count(context.in_impl(0).sizes(), args.dim.bits)), args,
                  context);
  }
  static void grad(const Args& args, GradContext& context) {
    const IntArrayRef sizes = context.in_sizes(0);
    context.set(
        0, spread(context.grad(), sizes, args.dim.bits).div(reduced_count(sizes, args.dim.bits)));
  }
};

/// PyTorch numbers the overloads in grad_fn's name: those with dimensions are the second.
struct SumDimOp : SumOp {
  static constexpr OpInfo info = with_node(SumOp::info, "SumBackward1");
};
struct MeanDimOp : MeanOp {
  static constexpr OpInfo info = with_node(MeanOp::info, "MeanBackward1");
};

/// all and any: the smallest and the largest of the truth values.
template <class Functor, const char* const& op_name>
struct TruthOp {
  using Args = ReduceArgs;
  static constexpr OpInfo info{
      .name = op_name, .dtypes = dtypes::kRealAndBool, .non_differentiable = out_slot(0)};
  static void infer(const Args& args, InferContext& context) { SumOp::infer(args, context); }
  static void launch(const Args& args, LaunchContext& context) {
    ReduceParams params =
        reduce_params(Functor{}, context.in(0),
                      keep_dims(context.out(), context.in(0), args.dim.bits, args.keepdim));
    params.compute = kBool;
    run_kernel(context.ctx, params);
  }
};
constexpr const char* kAll = "all";
constexpr const char* kAny = "any";
using AllOp = TruthOp<fn::Min, kAll>;
using AnyOp = TruthOp<fn::Max, kAny>;

/// The product; its derivatives are products of the other elements, without division by zeros.
struct ProdOp {
  using Args = ReduceArgs;
  static constexpr OpInfo info{.name = "prod",
                               .amp = Amp::kFloat32,
                               .saves = in_slot(0),
                               .complex_grad = ComplexGrad::kAnalytic};
  static void infer(const Args& args, InferContext& context) { SumOp::infer(args, context); }
  static void launch(const Args& args, LaunchContext& context) {
    // A product in bool is all().
    if (context.out_impl().dtype == kBool) return run_reduction(fn::Min{}, args, context);
    run_reduction(fn::Prod{}, args, context);
  }
  static void grad(const Args& args, GradContext& context) {
    const Tensor in = context.in(0);
    const uint32_t mask = args.dim.bits;
    const bool reduces_one_dim = mask != 0 && (mask & (mask - 1)) == 0;  // else all
    const Tensor line = reduces_one_dim ? in : in.reshape({-1});
    const int64_t dim = reduces_one_dim ? __builtin_ctz(mask) : 0;
    const Tensor others =
        exclusive_cumprod(line, dim, false).mul(exclusive_cumprod(line, dim, true));
    context.set(0, spread(context.grad(), in.sizes(), mask).mul(others.reshape(in.sizes())));
  }
};

struct ProdDimOp : ProdOp {
  static constexpr OpInfo info = with_node(ProdOp::info, "ProdBackward1");
};

/// The sum of the elements that are not NaN.
struct NanSumOp {
  using Args = ReduceArgs;
  static constexpr OpInfo info{
      .name = "nansum", .dtypes = dtypes::kRealAndBool, .saves = in_slot(0)};
  // PyTorch calls sum for integers; its kernel has floating-point dtypes only.
  static void infer(const Args& args, InferContext& context) {
    SumOp::infer(args, context);
    const ScalarType type = context.out().dtype;
    HEARTH_CHECK_AS(NotImplementedError,
                    is_floating_point(type) || is_integral(context.in(0).dtype, true),
                    "\"nansum_cpu\" not implemented for '", name_of(type), "'");
  }
  static void launch(const Args& args, LaunchContext& context) {
    if (!is_floating_point(context.out_impl().dtype)) return SumOp::launch(args, context);
    run_reduction(fn::NanSum{}, args, context);
  }
  static void grad(const Args& args, GradContext& context) {
    const Tensor spread_grad = spread(context.grad(), context.in_sizes(0), args.dim.bits);
    context.set(0, spread_grad.masked_fill(context.in(0).isnan(), 0));
  }
};

struct NanMean {
  using Args = ReduceArgs;
  static constexpr OpInfo info{.name = "nanmean"};
  static Tensor compute(const Args& args, const Tensor& self) {
    const Tensor is_number = self.isnan().logical_not();
    const auto sum_of = [&](const Tensor& t) {
      return invoke<SumOp>({args.dim, args.keepdim, ScalarType::Undefined}, t).call();
    };
    return invoke<NanSumOp>(args, self).call().div(sum_of(is_number));
  }
};

/// Where the elements differ from zero, which float8_e8m0fnu does not have.
Tensor nonzeros(const Tensor& self) {
  return is_stored_only(self.scalar_type()) ? self.to(kBool) : self.ne(0);
}

struct CountNonzero {
  using Args = ReduceArgs;
  static constexpr OpInfo info{.name = "count_nonzero"};
  static Tensor compute(const Args& args, const Tensor& self) {
    return invoke<SumOp>(args, nonzeros(self)).call();
  }
};

/// sum, nansum or prod.
template <class Op>
auto fold_of(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
             std::optional<ScalarType> dtype) {
  const ScalarType type = dtype ? resolve_dtype(*dtype) : ScalarType::Undefined;
  const std::string_view name = Op::info.name;
  HEARTH_CHECK_AS(NotImplementedError, !is_stored_only(type), "\"",
                  name == "prod"             ? "prod_out"
                  : is_integral(type, false) ? "sum"
                                             : name,
                  "_cpu\" not implemented for '", name_of(type), "'");
  if (dtype) warn_of_lost_imaginary_part(self.scalar_type(), type);
  return invoke<Op>(reduce_args(self, dim, keepdim, type), self);
}

/// The input of a sum or product: of a dtype without kernels, converted to the result's.
Tensor summable(const Tensor& self, std::optional<ScalarType> dtype) {
  const bool is_converted =
      is_stored_only(self.scalar_type()) && (dtype || !self.is_floating_point());
  return is_converted ? self.to(sum_dtype(self, dtype)) : self;
}

template <class Op>
Tensor mean_of(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
               std::optional<ScalarType> dtype) {
  const ScalarType type = dtype.value_or(self.scalar_type());
  HEARTH_CHECK_AS(NotImplementedError, is_differentiable(type),
                  "mean(): could not infer output dtype. Input dtype must be either a floating "
                  "point or complex dtype. Got: ",
                  name_of(type));
  return invoke<Op>(reduce_args(self, dim, keepdim, type), in_dtype(self, type)).call();
}

Tensor sum_to(const Tensor& self, IntArrayRef size) {
  if (self.sizes().equals(size)) return self;
  Dims reduced;
  const int64_t shift = self.dim() - int64_t(size.size());
  HEARTH_CHECK(shift >= 0, "size {", size, "} is not expandable to size {", self.sizes(), "}.");
  for (int64_t d = 0; d < self.dim(); ++d) {
    const bool fits =
        d < shift || size[size_t(d - shift)] == 1 || size[size_t(d - shift)] == self.size(d);
    HEARTH_CHECK(fits, "size {", size, "} is not expandable to size {", self.sizes(), "}.");
    if (d < shift || (size[size_t(d - shift)] == 1 && self.size(d) != 1)) reduced.push_back(d);
  }
  const Tensor summed =
      reduced.empty() ? self : self.sum(OptionalIntArrayRef(IntArrayRef(reduced)), true);
  return shift > 0 ? summed.view(size) : summed;
}

Tensor nanmean_of(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                  std::optional<ScalarType> dtype) {
  HEARTH_CHECK_AS(NotImplementedError, is_differentiable(self.scalar_type()),
                  "nanmean(): expected input to have floating point or complex dtype but got ",
                  name_of(self.scalar_type()));
  return compose<NanMean>(reduce_args(self, dim, keepdim), in_dtype(self, dtype));
}

/// Converts to bools what the kernels of all and any cannot read.
Tensor truths(const Tensor& self) {
  return self.is_complex() || is_stored_only(self.scalar_type()) ? nonzeros(self) : self;
}

/// The result is bool, or uint8 for uint8 inputs, as in PyTorch. An empty list of dimensions means
/// none here, not all.
ReduceArgs truth_args(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  ReduceArgs args = reduce_args(self, dim, keepdim, self.scalar_type() == kByte ? kByte : kBool);
  if (dim && dim->empty()) args.dim.bits = 0;
  return args;
}

}  // namespace

// Without a dtype, the out= forms compute in out's, as in PyTorch.
#define HEARTH_DEFINE_FOLD(name, params, ...)                                     \
  HEARTH_DEFINE_METHOD(Tensor, name, params, (__VA_ARGS__).call())                \
  Tensor& name##_out(Tensor& out, const Tensor& self HEARTH_REST params) {        \
    check_defined(#name, 0, "self", self);                                        \
    if (!dtype && out.defined() && !self.is_complex()) dtype = out.scalar_type(); \
    return (__VA_ARGS__).out(out);                                                \
  }
HEARTH_DEFINE_FOLD(sum, (std::optional<ScalarType> dtype),
                   fold_of<SumOp>(summable(self, dtype), {}, false, dtype))
HEARTH_DEFINE_FOLD(sum, (OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype),
                   fold_of<SumDimOp>(summable(self, dtype), dim, keepdim, dtype))
HEARTH_DEFINE_COMPOSED_OUT(mean, (std::optional<ScalarType> dtype),
                           mean_of<MeanOp>(self, {}, false, dtype))
HEARTH_DEFINE_COMPOSED_OUT(mean,
                           (OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype),
                           mean_of<MeanDimOp>(self, dim, keepdim, dtype))
HEARTH_DEFINE_METHOD_ONLY(Tensor, sum_to_size, (IntArrayRef size), sum_to(self, size))
HEARTH_DEFINE_FOLD(nansum, (OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype),
                   fold_of<NanSumOp>(summable(self, dtype), dim, keepdim, dtype))
HEARTH_DEFINE_COMPOSED_OUT(nanmean,
                           (OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype),
                           nanmean_of(self, dim, keepdim, dtype))
HEARTH_DEFINE_FOLD(prod, (std::optional<ScalarType> dtype),
                   fold_of<ProdOp>(summable(self, dtype), {}, false, dtype))
HEARTH_DEFINE_FOLD(prod, (int64_t dim, bool keepdim, std::optional<ScalarType> dtype),
                   fold_of<ProdDimOp>(summable(self, dtype), dim, keepdim, dtype))
#undef HEARTH_DEFINE_FOLD
HEARTH_DEFINE_METHOD(
    Tensor, count_nonzero, (std::optional<int64_t> dim),
    compose<CountNonzero>(reduce_args(self, dim ? OptionalIntArrayRef(*dim) : OptionalIntArrayRef(),
                                      false),
                          self))
HEARTH_DEFINE_METHOD(Tensor, count_nonzero, (IntArrayRef dim),
                     compose<CountNonzero>(reduce_args(self, dim, false), self))

#define HEARTH_DEFINE_TRUTH(name, Op)                                                \
  HEARTH_DEFINE_OUT(name, (), invoke<Op>(truth_args(self, {}, false), truths(self))) \
  HEARTH_DEFINE_OUT(name, (int64_t dim, bool keepdim),                               \
                    invoke<Op>(truth_args(self, dim, keepdim), truths(self)))        \
  HEARTH_DEFINE_OUT(name, (OptionalIntArrayRef dim, bool keepdim),                   \
                    invoke<Op>(truth_args(self, dim, keepdim), truths(self)))
HEARTH_DEFINE_TRUTH(all, AllOp)
HEARTH_DEFINE_TRUTH(any, AnyOp)
#undef HEARTH_DEFINE_TRUTH

}  // namespace hearth
