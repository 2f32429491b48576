#include "kernels/reduce.h"

#include "kernels/minmax_dim.h"
#include "ops/copy.h"
#include "ops/create.h"
#include "ops/define.h"

namespace hearth {

namespace {

/// Which dimensions are reduced (bit d), and whether they stay with size 1.
struct ReduceArgs {
  DimSet dim;
  bool keepdim;
  ScalarType dtype;  // of the result; Undefined: as the input's decides
  HEARTH_FIELDS(dim, keepdim, dtype)
};

uint32_t dim_mask(const Tensor& self, OptionalIntArrayRef dims) {
  const int64_t ndim = self.dim();
  const uint32_t all = (1u << ndim) - 1;
  if (!dims || dims->empty()) return all;
  uint32_t mask = 0;
  for (int64_t d : *dims) {
    const int64_t wrapped = wrap_dim(d, ndim);
    HEARTH_CHECK(!(mask >> wrapped & 1u), "dim ", wrapped,
                 " appears multiple times in the list of dims");
    mask |= 1u << wrapped;
  }
  return mask;
}

/// The result's sizes; with keepdim as the kernels want them, 1 where reduced.
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

/// Gives an output without its reduced dimensions back the input's number of dimensions.
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

/// A gradient of the result's shape, seen at the input's.
Tensor spread(const Tensor& grad, IntArrayRef sizes, uint32_t mask) {
  return grad.reshape(reduced_sizes(sizes, mask, true)).expand(sizes);
}

struct SumOp {
  using Args = ReduceArgs;
  static constexpr OpInfo info{.name = "sum", .amp = Amp::kFloat32, .amp_cpu = Amp::kKeep};
  static void infer(const Args& args, Infer& c) {
    const ScalarType in = c.in(0).dtype;
    const ScalarType usual = is_integral(in, true) ? kLong : in;
    c.set(0, reduced_sizes(c.in(0).sizes(), args.dim.bits, args.keepdim),
          args.dtype == ScalarType::Undefined ? usual : args.dtype);
  }
  static void launch(const Args& args, Launch& c) {
    const View out = keep_dims(c.out(), c.in(0), args.dim.bits, args.keepdim);
    // In bool a sum is whether any element is true.
    hearth::launch(c.ctx, out.dtype == kBool ? reduce_params(fn::Max{}, c.in(0), out)
                                             : reduce_params(fn::Sum{}, c.in(0), out));
  }
  static void grad(const Args& args, Grad& c) {
    c.set(0, spread(c.grad(), c.in_sizes(0), args.dim.bits));
  }
};

struct MeanOp {
  using Args = ReduceArgs;
  static constexpr OpInfo info{.name = "mean", .dtypes = dtypes::kFloating | dtypes::kComplex};
  static double count(IntArrayRef sizes, uint32_t mask) {
    double product = 1;
    for (size_t d = 0; d < sizes.size(); ++d)
      if (mask >> d & 1u) product *= double(sizes[d]);
    return product;
  }
  static void infer(const Args& args, Infer& c) { SumOp::infer(args, c); }
  static void launch(const Args& args, Launch& c) {
    const double elements = count(c.in_impl(0).sizes(), args.dim.bits);
    hearth::launch(c.ctx, reduce_params(fn::Mean(elements), c.in(0),
                                        keep_dims(c.out(), c.in(0), args.dim.bits, args.keepdim)));
  }
  static void grad(const Args& args, Grad& c) {
    const IntArrayRef sizes = c.in_sizes(0);
    c.set(0, spread(c.grad(), sizes, args.dim.bits).div(count(sizes, args.dim.bits)));
  }
};

/// all and any: the smallest and the largest of the truth values.
template <class Functor, const char* const& op_name>
struct TruthOp {
  using Args = ReduceArgs;
  static constexpr OpInfo info{
      .name = op_name, .dtypes = dtypes::kRealAndBool, .non_differentiable = out_slot(0)};
  static void infer(const Args& args, Infer& c) { SumOp::infer(args, c); }
  static void launch(const Args& args, Launch& c) {
    ReduceParams params =
        reduce_params(Functor{}, c.in(0), keep_dims(c.out(), c.in(0), args.dim.bits, args.keepdim));
    params.compute = kBool;
    hearth::launch(c.ctx, params);
  }
};
constexpr const char* kAll = "all";
constexpr const char* kAny = "any";

/// The extreme element of all; ties share the gradient.
template <class Functor, const char* const& op_name>
struct ExtremeOp {
  using Args = ReduceArgs;
  static constexpr OpInfo info{
      .name = op_name, .dtypes = dtypes::kRealAndBool, .saves = in_slot(0) | out_slot(0)};
  static void infer(const Args& args, Infer& c) {
    HEARTH_CHECK(c.in(0).numel > 0, op_name,
                 "(): Expected reduction dim to be specified for input.numel() == 0. "
                 "Specify the reduction dim with the 'dim' argument.");
    SumOp::infer(args, c);
  }
  static void launch(const Args& args, Launch& c) {
    hearth::launch(c.ctx, reduce_params(Functor{}, c.in(0),
                                        keep_dims(c.out(), c.in(0), args.dim.bits, args.keepdim)));
  }
  static void grad(const Args&, Grad& c) {
    const Tensor in = c.in(0), value = c.out();
    const Tensor ties = in.eq(value).logical_or(in.isnan().logical_and(value.isnan()));
    const Tensor share = c.grad().div(ties.sum());
    c.set(0, ties.to(share.scalar_type()).mul(share));
  }
};
constexpr const char* kMax = "max";
constexpr const char* kMin = "min";

struct MinMaxArgs {
  int64_t dim;
  bool keepdim;
  HEARTH_FIELDS(dim, keepdim)
};

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
  static void infer(const Args& args, Infer& c) {
    const TensorImpl& in = c.in(0);
    HEARTH_CHECK_AS(IndexError, in.dim == 0 || in.sizes()[size_t(args.dim)] > 0,
                    largest ? "max" : "min", "(): Expected reduction dim ", args.dim,
                    " to have non-zero size.");
    const Dims sizes = reduced_sizes(in.sizes(), mask(args, in.dim), args.keepdim);
    c.set(0, sizes, in.dtype);
    c.set(1, sizes, kLong);
  }
  static void launch(const Args& args, Launch& c) {
    MinMaxDimParams params;
    params.in = c.in(0);
    const uint32_t dims = mask(args, params.in.dim);
    params.values = keep_dims(c.out(0), params.in, dims, args.keepdim);
    params.indices = keep_dims(c.out(1), params.in, dims, args.keepdim);
    params.dim = int(args.dim);
    params.largest = largest;
    if (params.in.numel > 0) hearth::launch(c.ctx, params);
  }
  /// Each result's gradient goes where the result came from.
  static void grad(const Args& args, Grad& c) {
    const IntArrayRef sizes = c.in_sizes(0);
    if (sizes.empty()) return c.set(0, c.grad());
    const Dims kept = reduced_sizes(sizes, mask(args, int(sizes.size())), true);
    const Tensor start = zeros(sizes, c.grad().options());
    c.set(0, start.scatter_add(args.dim, c.out(1).reshape(kept), c.grad().reshape(kept)));
  }
};

auto sum_of(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
            std::optional<ScalarType> dtype) {
  const ScalarType type = dtype ? resolve_dtype(*dtype) : ScalarType::Undefined;
  return invoke<SumOp>({dim_mask(self, dim), keepdim, type}, self);
}

Tensor mean_of(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
               std::optional<ScalarType> dtype) {
  const ScalarType type = dtype.value_or(self.scalar_type());
  HEARTH_CHECK(is_differentiable(type),
               "mean(): could not infer output dtype. Input dtype must be either a floating "
               "point or complex dtype. Got: ",
               name_of(type));
  const Tensor input = self.scalar_type() == type ? self : self.to(type);
  return invoke<MeanOp>({dim_mask(self, dim), keepdim, type}, input).call();
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

/// Truth is a bool, but for bytes a byte: those were PyTorch's bools once.
ScalarType truth_dtype(const Tensor& self) { return self.scalar_type() == kByte ? kByte : kBool; }

ReduceArgs everything(const Tensor& self, ScalarType dtype) {
  return {dim_mask(self, {}), false, dtype};
}

}  // namespace

HEARTH_DEFINE_METHOD(Tensor, sum, (std::optional<ScalarType> dtype),
                     sum_of(self, {}, false, dtype).call())
HEARTH_DEFINE_OUT(sum, (OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype),
                  sum_of(self, dim, keepdim, dtype))
HEARTH_DEFINE_METHOD(Tensor, mean, (std::optional<ScalarType> dtype),
                     mean_of(self, {}, false, dtype))
HEARTH_DEFINE_METHOD(Tensor, mean,
                     (OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype),
                     mean_of(self, dim, keepdim, dtype))
HEARTH_DEFINE_METHOD(Tensor, sum_to_size, (IntArrayRef size), sum_to(self, size))
HEARTH_DEFINE_METHOD(
    Tensor, all, (),
    (invoke<TruthOp<fn::Min, kAll>>(everything(self, truth_dtype(self)), self)).call())
HEARTH_DEFINE_METHOD(
    Tensor, any, (),
    (invoke<TruthOp<fn::Max, kAny>>(everything(self, truth_dtype(self)), self)).call())
HEARTH_DEFINE_METHOD(
    Tensor, max, (),
    (invoke<ExtremeOp<fn::Max, kMax>>(everything(self, self.scalar_type()), self)).call())
HEARTH_DEFINE_METHOD(
    Tensor, min, (),
    (invoke<ExtremeOp<fn::Min, kMin>>(everything(self, self.scalar_type()), self)).call())
HEARTH_DEFINE_METHOD(TensorPair, max, (int64_t dim, bool keepdim),
                     invoke<MinMaxDimOp<true>>({wrap_dim(dim, self.dim()), keepdim}, self).pair())
HEARTH_DEFINE_METHOD(TensorPair, min, (int64_t dim, bool keepdim),
                     invoke<MinMaxDimOp<false>>({wrap_dim(dim, self.dim()), keepdim}, self).pair())
HEARTH_DEFINE_METHOD(Tensor, max, (const Tensor& other), self.maximum(other))
HEARTH_DEFINE_METHOD(Tensor, min, (const Tensor& other), self.minimum(other))

}  // namespace hearth
