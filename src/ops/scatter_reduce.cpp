// scatter_reduce and index_reduce.
#include <limits>

#include "autograd/tangents.h"
#include "hearth/operators.h"
#include "ops/binding.h"
#include "ops/composed_out.h"
#include "ops/saturate.h"
#include "ops/scatter.h"

namespace hearth {

namespace {

constexpr OpInfo scatter_reduce_info(const char* overload, DtypeSet types = dtypes::kRealAndBool) {
  return {.name = "scatter_reduce",
          .overload = overload,
          .arguments = "self,index,src",
          .dtypes = types,
          .saves = in_slot(0) | in_slot(1) | in_slot(2) | out_slot(0),
          .runs_inplace = true,
          .sharing = Sharing::kAtIndices,
          .always_launches = true};
}
constexpr OpInfo kScatterProduct = scatter_reduce_info("prod", dtypes::kAll),
                 kScatterMaximum = scatter_reduce_info("amax"),
                 kScatterMinimum = scatter_reduce_info("amin");

/// The product of each element of self and the elements of src that are written to it.
struct ScatterProduct : ScatterOp<kScatterProduct, Combine::kMultiply> {
  static Tensor product(const Args& args, const Tensor& self, const Tensor& index,
                        const Tensor& src) {
    return invoke<ScatterProduct>(args, self, index, src).call();
  }
  /// The gradient of a factor is the product of the others; no formula divides by 0.
  static void grad(const Args& args, GradContext& context) {
    const Tensor self = context.in(0), index = context.in(1), src = context.in(2);
    const Tensor& grad = context.grad();
    if (context.needs(0)) {
      const Tensor nonzero = self.masked_fill(self.eq(0), 1);
      context.set(0, grad * product(args, nonzero, index, src) / nonzero);
    }
    if (!context.needs(2)) return;
    const Tensor is_zero = src.eq(0);
    const Tensor num_zeros = zeros_like(self)
                                 .scatter_add(args.dim, index, is_zero.to(self.scalar_type()))
                                 .gather(args.dim, index);
    const Tensor is_only_zero = is_zero.logical_and(num_zeros.eq(1));
    const Tensor others = product(args, self, index, src.masked_fill(is_only_zero, 1));
    const Tensor of_zeros = (grad * others).gather(args.dim, index);
    const Tensor of_others =
        (grad * context.out()).gather(args.dim, index) / src.masked_fill(is_zero, 1);
    context.set(2, where(is_only_zero, of_zeros, of_others));
  }
};

struct ExtremeArgs {
  int64_t dim;
  bool include_self;  // if not, self has the identity where src is written
  HEARTH_FIELDS(dim, include_self)
};

/// The largest (or smallest) of each element of self and the elements of src written to it; equal
/// ones share the gradient.
template <const OpInfo& op_info, Combine combine>
struct ScatterExtreme : ScatterOp<op_info, combine, ExtremeArgs> {
  static void grad(const ExtremeArgs& args, GradContext& context) {
    const Tensor index = context.in(1), out = context.out();
    const ScalarType type = out.scalar_type();
    Tensor self_wins = context.in(0).eq(out).to(type);
    if (!args.include_self) self_wins = self_wins.scatter(args.dim, index, 0);
    const Tensor src_wins = context.in(2).eq(out.gather(args.dim, index)).to(type);
    const Tensor share = context.grad() / self_wins.scatter_add(args.dim, index, src_wins);
    if (context.needs(0)) context.set(0, self_wins * share);
    if (context.needs(2)) context.set(2, src_wins * share.gather(args.dim, index));
  }
};
using ScatterMaximum = ScatterExtreme<kScatterMaximum, Combine::kMaximum>;
using ScatterMinimum = ScatterExtreme<kScatterMinimum, Combine::kMinimum>;

enum class ScatterReduction : uint8_t { kSum, kProd, kMean, kAmax, kAmin };

ScatterReduction reduction_named(std::string_view name) {
  constexpr std::string_view kNames[] = {"sum", "prod", "mean", "amax", "amin"};
  for (int i = 0; i < 5; ++i)
    if (name == kNames[i]) return static_cast<ScatterReduction>(i);
  detail::fail<Error>("reduce argument must be either sum, prod, mean, amax or amin, got ", name);
}

/// The value that does not change a reduction.
Scalar identity_of(ScatterReduction reduction, ScalarType type) {
  if (reduction == ScatterReduction::kProd) return 1;
  if (reduction != ScatterReduction::kAmax && reduction != ScatterReduction::kAmin) return 0;
  const bool is_least = reduction == ScatterReduction::kAmax;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (is_floating_point(type)) return is_least ? -kInfinity : kInfinity;
  if (type == kBool) return !is_least;
  const IntegerRange range(type);
  return is_least ? range.smallest : range.largest;
}

/// The part of src that the index reaches.
Tensor reached(const Tensor& src, const Tensor& index) {
  Tensor part = src;
  if (src.dim() != index.dim()) return part;  // the op throws
  for (int64_t d = 0; d < src.dim(); ++d)
    if (src.size(d) > index.size(d)) part = part.narrow(d, 0, index.size(d));
  return part;
}

Tensor mean_at(const Tensor& start, int64_t dim, const Tensor& index, const Tensor& src,
               bool include_self) {
  const TensorOptions options = start.options().requires_grad(false);
  const Tensor of_self =
      include_self ? ones(start.sizes(), options) : zeros(start.sizes(), options);
  const Tensor num_terms = of_self.scatter_add(dim, index, ones(src.sizes(), options));
  const Tensor count = where(num_terms.eq(0), 1, num_terms);
  const Tensor sum = start.scatter_add(dim, index, src);
  return is_integral(start.scalar_type(), true) ? sum.div(count, "floor") : sum.div(count);
}

Tensor scatter_reduced_by(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                          ScatterReduction reduction, bool include_self) {
  dim = wrap_dim(dim, self.dim());
  HEARTH_CHECK_AS(NotImplementedError,
                  self.scalar_type() != kBool || reduction != ScatterReduction::kMean,
                  "\"scatter_gather_tensor_cpu_reduce_mean\" not implemented for 'Bool'");
  const bool is_extreme =
      reduction == ScatterReduction::kAmax || reduction == ScatterReduction::kAmin;
  HEARTH_CHECK_AS(NotImplementedError, !is_extreme || !self.is_complex(),
                  "\"scatter_gather_tensor_cpu_reduce_",
                  reduction == ScatterReduction::kAmax ? "amax" : "amin",
                  "\" not implemented for '", name_of(self.scalar_type()), "'");
  const ScalarType type = self.scalar_type();
  // 16 bits would round the sum before the division.
  if (reduction == ScatterReduction::kMean && is_reduced_float(type) && src.scalar_type() == type)
    return scatter_reduced_by(self.to(kFloat), dim, index, src.to(kFloat), reduction, include_self)
        .to(type);
  const Tensor start = include_self ? self : self.scatter(dim, index, identity_of(reduction, type));
  const Tensor values = reached(src, index);
  const DimArgs args{dim};
  switch (reduction) {
    case ScatterReduction::kSum: return start.scatter_add(dim, index, values);
    case ScatterReduction::kProd: return ScatterProduct::product(args, start, index, values);
    case ScatterReduction::kMean: return mean_at(start, dim, index, values, include_self);
    case ScatterReduction::kAmax:
      return invoke<ScatterMaximum>({dim, include_self}, start, index, values).call();
    default: return invoke<ScatterMinimum>({dim, include_self}, start, index, values).call();
  }
}

/// Checks index_reduce's arguments; dim is wrapped.
void check_index_reduce(const Tensor& self, int64_t dim, const Tensor& index,
                        const Tensor& source) {
  const ScalarType type = index.scalar_type();
  HEARTH_CHECK(type == kLong || type == kInt,
               "index_reduce_(): Expected dtype int32/int64 for index but got: ", name_of(type));
  HEARTH_CHECK_AS(IndexError, index.dim() <= 1,
                  "index_reduce_(): Index is supposed to be a vector, but got dim: ", index.dim(),
                  " with type: ", name_of(type), " and size: ", index.sizes());
  HEARTH_CHECK(self.scalar_type() == source.scalar_type(), "index_reduce_(): self (",
               name_of(self.scalar_type()), ") and source (", name_of(source.scalar_type()),
               ") must have the same scalar type");
  HEARTH_CHECK(dim == 0 || dim < source.dim(), "index_reduce_(): Indexing dim ", dim,
               " is out of bounds of tensor");
  const int64_t num_slices = source.dim() == 0 ? 1 : source.size(dim);
  HEARTH_CHECK(index.numel() == num_slices, "index_reduce_(): Number of indices (", index.numel(),
               ") should be equal to source.size(dim): (", num_slices, "), for dim: ", dim);
  Dims expected(self.sizes());
  if (self.dim() > 0) expected[size_t(dim)] = num_slices;
  HEARTH_CHECK(source.sizes().equals(expected),
               "source tensor shape must match self tensor shape, excluding the specified "
               "dimension. Got self.shape = ",
               self.sizes(), " source.shape = ", source.sizes());
}

Tensor index_reduced(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                     std::string_view reduce, bool include_self) {
  HEARTH_CHECK(reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin",
               "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got ",
               reduce, ".");
  dim = wrap_dim(dim, self.dim());
  check_index_reduce(self, dim, index, source);
  HEARTH_CHECK_AS(NotImplementedError, !self.is_complex() && self.scalar_type() != kBool,
                  include_self ? "\"index_func_" : "\"index_reduce_func_exclude_input_init",
                  "\" not implemented for '", name_of(self.scalar_type()), "'");
  Dims sizes(size_t(source.dim()), 1);
  if (source.dim() > 0) sizes[size_t(dim)] = index.numel();
  const Tensor places = index.reshape(sizes).expand(source.sizes());
  const int64_t size = self.dim() == 0 ? 1 : self.size(dim);
  return with_index_error(
      index, 0, size,
      [&] {
        return scatter_reduced_by(self, dim, places, source, reduction_named(reduce), include_self);
      },
      [](int64_t) { detail::fail<IndexError>("index out of range in self"); });
}

/// The input of an in-place form: self, or a copy if the backward pass needs its old values. Throws
/// if another input certainly shares memory with self.
Tensor before_writing(const Tensor& self, const Tensor& index, const Tensor& src,
                      std::string_view reduce, bool include_self) {
  for (const Tensor* input : {&index, &src})
    if (input->defined()) check_not_overlapping(impl_of(self), impl_of(*input));
  const bool saves_self = include_self && reduce != "sum" && reduce != "mean";
  const bool records = autograd::wants_derivative(self) || autograd::wants_derivative(src);
  return saves_self && records ? self.clone() : self;
}

}  // namespace

HEARTH_DEFINE_COMPOSED_OUT(scatter_reduce,
                           (int64_t dim, const Tensor& index, const Tensor& src,
                            std::string_view reduce, bool include_self),
                           scatter_reduced_by(self, dim, index, src, reduction_named(reduce),
                                              include_self))
HEARTH_DEFINE_INPLACE_AS(scatter_reduce_,
                         (int64_t dim, const Tensor& index, const Tensor& src,
                          std::string_view reduce, bool include_self),
                         write_inplace(self, [&] {
                           return scatter_reduced_by(
                               before_writing(self, index, src, reduce, include_self), dim, index,
                               src, reduction_named(reduce), include_self);
                         }))
HEARTH_DEFINE_COMPOSED_OUT(index_reduce,
                           (int64_t dim, const Tensor& index, const Tensor& source,
                            std::string_view reduce, bool include_self),
                           index_reduced(self, dim, index, source, reduce, include_self))
HEARTH_DEFINE_INPLACE_AS(index_reduce_,
                         (int64_t dim, const Tensor& index, const Tensor& source,
                          std::string_view reduce, bool include_self),
                         write_inplace(self, [&] {
                           return index_reduced(
                               before_writing(self, index, source, reduce, include_self), dim,
                               index, source, reduce, include_self);
                         }))

}  // namespace hearth
