// sort, topk, kthvalue, median and mode.
#include "seam/order.h"

#include <limits>

#include "ops/composed_out.h"
#include "ops/copy.h"
#include "ops/reduce.h"
#include "ops/zero_derivative.h"

namespace hearth {

namespace {

struct OrderArgs {
  int64_t dim;
  int64_t k = 0;            // topk: the number of elements; kthvalue: the rank, from 0
  bool descending = false;  // topk: largest
  bool keepdim = true;
  HEARTH_FIELDS(dim, k, descending, keepdim)
};

constexpr const char* kOpNames[] = {"sort",       "topk",          "kthvalue",
                                    "median_dim", "nanmedian_dim", "mode"};
constexpr const char* kPublicNames[] = {"sort", "topk", "kthvalue", "median", "nanmedian", "mode"};

/// Values and indices of the elements along dim: sorted, of one rank, or (mode) the most frequent.
template <OrderKind kind>
struct OrderOp {
  using Args = OrderArgs;
  static constexpr bool kReturnsMany = kind == OrderKind::kSort || kind == OrderKind::kTopK;
  static constexpr bool kAcceptsBool = kind == OrderKind::kSort || kind == OrderKind::kMode;
  static constexpr const char* kPublicName = kPublicNames[int(kind)];
  static constexpr OpInfo info{.name = kOpNames[int(kind)],
                               .node = kind == OrderKind::kMedian      ? "MedianBackward1"
                                       : kind == OrderKind::kNanMedian ? "NanmedianBackward1"
                                                                       : "",
                               .dtypes = kAcceptsBool ? dtypes::kRealAndBool : dtypes::kReal,
                               .saves = out_slot(1),
                               .outputs = 2,
                               .non_differentiable = out_slot(1)};
  static uint32_t mask(const Args& args, int dims) { return dims == 0 ? 0 : 1u << args.dim; }
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl& in = context.in(0);
    const int64_t n = in.dim == 0 ? 1 : in.sizes()[size_t(args.dim)];
    Dims sizes(in.sizes());
    if constexpr (kind == OrderKind::kTopK) {
      HEARTH_CHECK(args.k >= 0 && args.k <= n, "selected index k out of range");
      if (in.dim > 0) sizes[size_t(args.dim)] = args.k;
    }
    if constexpr (!kReturnsMany) {
      check_not_empty(kPublicName, in, mask(args, in.dim));
      HEARTH_CHECK(kind != OrderKind::kKth || (args.k >= 0 && args.k < n), kPublicName,
                   "(): selected number k out of range for dimension ", args.dim);
      sizes = reduced_sizes(in.sizes(), mask(args, in.dim), args.keepdim);
    }
    context.set(0, sizes, in.dtype);
    context.set(1, sizes, kLong);
    if constexpr (kind == OrderKind::kSort) {
      for (int i : {0, 1}) {
        context.out(i).strides = strides_for(in, MemoryFormat::Preserve);
        context.out(i).has_strides = true;
      }
    }
  }
  static void launch(const Args& args, LaunchContext& context) {
    OrderParams params;
    params.in = context.in(0);
    const uint32_t dims = mask(args, params.in.dim);
    params.values = keep_dims(context.out(0), params.in, dims, kReturnsMany || args.keepdim);
    params.indices = keep_dims(context.out(1), params.in, dims, kReturnsMany || args.keepdim);
    params.dim = int(args.dim);
    params.kind = kind;
    params.descending = args.descending;
    params.k = args.k;
    run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    context.set(0, picked_grad(context.grad(), context.out(1), context.in_sizes(0), args.dim));
  }
};

using Sort = OrderOp<OrderKind::kSort>;
using TopK = OrderOp<OrderKind::kTopK>;
using Kth = OrderOp<OrderKind::kKth>;
using MedianDim = OrderOp<OrderKind::kMedian>;
using NanMedianDim = OrderOp<OrderKind::kNanMedian>;
using Mode = OrderOp<OrderKind::kMode>;

/// The median of all elements; equal elements share the gradient.
template <class DimOp>
struct MedianOfAll {
  struct Args {};
  static constexpr OpInfo info{
      .name = DimOp::kPublicName, .dtypes = dtypes::kReal, .saves = in_slot(0) | out_slot(0)};
  static void infer(const Args&, InferContext& context) { context.set(0, {}, context.in(0).dtype); }
  static void launch(const Args&, LaunchContext& context) {
    OrderParams params;
    params.in = context.in(0);  // 1-d: see median_of
    View out_vector = context.out();
    out_vector.dim = 1;
    out_vector.sizes[0] = out_vector.strides[0] = 1;
    params.values = params.indices = out_vector;
    params.indices.dtype = kLong;
    params.indices.data = context.ctx.scratch(sizeof(int64_t));
    params.kind = std::is_same_v<DimOp, MedianDim> ? OrderKind::kMedian : OrderKind::kNanMedian;
    run_kernel(context.ctx, params);
  }
  static void grad(const Args&, GradContext& context) {
    context.set(0, shared_by_ties(context.grad(), context.in(0), context.out()));
  }
};

/// The median of an empty tensor is NaN, converted to self's dtype; its history is that of a sum.
template <class DimOp>
Tensor median_of(const Tensor& self) {
  if (self.numel() > 0) return invoke<MedianOfAll<DimOp>>({}, self.reshape({-1})).call();
  const Tensor nan =
      full({}, std::numeric_limits<double>::quiet_NaN(), self.options().dtype(kDouble));
  const Tensor result = nan.to(self.scalar_type());
  return detail::with_zero_derivative(
      result, is_differentiable(self.scalar_type()) ? self.sum() : Tensor());
}

const Tensor& check_orderable(const char* op, const Tensor& self, bool accepts_bool = true) {
  HEARTH_CHECK_AS(TypeError, !self.is_complex(), " ", op,
                  " does not support complex dtypes on CPU");
  HEARTH_CHECK_AS(NotImplementedError, accepts_bool || self.scalar_type() != kBool, op,
                  " does not support bool dtypes on CPU");
  return self;
}

auto sort_of(const Tensor& self, int64_t dim, bool descending) {
  return invoke<Sort>({wrap_dim(dim, self.dim()), 0, descending}, check_orderable("Sort", self));
}
auto topk_of(const Tensor& self, int64_t k, int64_t dim, bool largest) {
  return invoke<TopK>({wrap_dim(dim, self.dim()), k, largest},
                      check_orderable("topk", self, false));
}
OrderArgs rank_args(const Tensor& self, int64_t dim, bool keepdim, int64_t k = 0) {
  return {wrap_dim(dim, self.dim()), k, false, keepdim};
}

}  // namespace

HEARTH_DEFINE_PAIR(sort, (int64_t dim, bool descending), sort_of(self, dim, descending))
HEARTH_DEFINE_PAIR(sort, (std::optional<bool>, int64_t dim, bool descending),
                   sort_of(self, dim, descending))
HEARTH_DEFINE_METHOD(Tensor, argsort, (int64_t dim, bool descending),
                     std::get<1>(sort_of(self, dim, descending).pair()))
HEARTH_DEFINE_METHOD(Tensor, argsort, (bool, int64_t dim, bool descending),
                     std::get<1>(sort_of(self, dim, descending).pair()))
HEARTH_DEFINE_COMPOSED_OUT(msort, (), std::get<0>(sort_of(self, 0, false).pair()))
HEARTH_DEFINE_PAIR(topk, (int64_t k, int64_t dim, bool largest, bool),
                   topk_of(self, k, dim, largest))
HEARTH_DEFINE_PAIR(kthvalue, (int64_t k, int64_t dim, bool keepdim),
                   invoke<Kth>(rank_args(self, dim, keepdim, k - 1), self))
HEARTH_DEFINE_COMPOSED_OUT(median, (), median_of<MedianDim>(self))
HEARTH_DEFINE_COMPOSED_OUT(nanmedian, (), median_of<NanMedianDim>(self))
HEARTH_DEFINE_PAIR(median, (int64_t dim, bool keepdim),
                   invoke<MedianDim>(rank_args(self, dim, keepdim), self))
HEARTH_DEFINE_PAIR(nanmedian, (int64_t dim, bool keepdim),
                   invoke<NanMedianDim>(rank_args(self, dim, keepdim), self))
HEARTH_DEFINE_PAIR(mode, (int64_t dim, bool keepdim),
                   invoke<Mode>(rank_args(self, dim, keepdim), self))

}  // namespace hearth
