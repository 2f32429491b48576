// Operators that address one dimension by an index tensor, and nonzero.
#include "ops/index_along.h"

#include <algorithm>

#include "hearth/autograd.h"
#include "hearth/context.h"
#include "ops/copy.h"
#include "ops/define.h"
#include "seam/gather.h"
#include "seam/nonzero.h"

namespace hearth {

namespace {

int64_t at_least_one(int64_t size) { return size == 0 ? 1 : size; }

void check_index(const char* op, const TensorImpl& index) {
  HEARTH_CHECK(index.dtype == kLong || index.dtype == kInt || index.numel == 0, op,
               "(): Expected dtype int32/int64 for index");
}

void check_same_dims(const char* op, const TensorImpl& index, const TensorImpl& other,
                     const char* role) {
  HEARTH_CHECK(at_least_one(index.dim) == at_least_one(other.dim),
               "Index tensor must have the same number of dimensions as ", role, " tensor (", op,
               ": index ", index.sizes(), ", ", role, " ", other.sizes(), ")");
}

/// The first dimension but `dim` in which index is larger than `other`, or -1.
int misfit(const TensorImpl& index, const TensorImpl& other, int64_t dim) {
  const int shared = std::min(index.dim, other.dim);
  for (int d = 0; d < shared; ++d)
    if (d != dim && index.sizes()[size_t(d)] > other.sizes()[size_t(d)]) return d;
  return -1;
}

struct Gather {
  using Args = DimArgs;
  static constexpr OpInfo info{.name = "gather", .arguments = "self,index", .saves = in_slot(1)};
  static void infer(const Args& args, InferContext& context) {
    check_index("gather", context.in(1));
    if (context.in(1).numel > 0) check_fits(args, context.in(0), context.in(1));
    context.set(0, context.in(1).sizes(), context.in(0).dtype);
  }
  static void check_fits(const Args& args, const TensorImpl& self, const TensorImpl& index) {
    check_same_dims("gather", index, self, "input");
    const int d = misfit(index, self, args.dim);
    HEARTH_CHECK(d < 0, "Size does not match at dimension ", d, " expected index ", index.sizes(),
                 " to be no larger than self ", self.sizes(), " apart from dimension ", args.dim);
  }
  static void launch(const Args& args, LaunchContext& context) {
    const GatherParams params{context.in(0), context.in(1), context.out(), int(args.dim)};
    if (params.out.numel > 0) run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    if (context.needs(0))
      context.set(0, zeros(context.in_sizes(0), context.grad().options())
                         .scatter_add(args.dim, context.in(1), context.grad()));
  }
};

}  // namespace

void infer_scatter(const DimArgs& args, InferContext& context) {
  const TensorImpl &self = context.in(0), &index = context.in(1), &src = context.in(2);
  check_index("scatter", index);
  HEARTH_CHECK(self.dtype == src.dtype, "scatter(): Expected self.dtype to be equal to src.dtype");
  if (index.numel > 0) {
    check_same_dims("scatter_add", index, self, "self");
    check_same_dims("scatter_add", index, src, "src");
    HEARTH_CHECK(misfit(index, self, args.dim) < 0 && misfit(index, src, -1) < 0, "Expected index ",
                 index.sizes(), " to be no larger than self ", self.sizes(),
                 " apart from dimension ", args.dim, " and to be no larger size than src ",
                 src.sizes());
  }
  context.set(0, self.sizes(), self.dtype);
}

Tensor gradient_of_source(const DimArgs& args, const GradContext& context) {
  const Tensor index = context.in(1);
  const Tensor picked = context.grad().gather(args.dim, index);
  if (index.sizes().equals(context.in_sizes(2))) return picked;
  // src may be larger than the index; the rest of it was not used.
  Tensor full = zeros(context.in_sizes(2), picked.options());
  Tensor window = full;
  for (int64_t d = 0; d < index.dim(); ++d) window = window.narrow(d, 0, index.size(d));
  window.copy_(picked);
  return full;
}

namespace {

struct ScatterAdd {
  using Args = DimArgs;
  static constexpr OpInfo info{.name = "scatter_add",
                               .arguments = "self,index,src",
                               .amp = Amp::kWidest,
                               .amp_cpu = Amp::kKeep,
                               .saves = in_slot(1),
                               .runs_inplace = true};
  static void infer(const Args& args, InferContext& context) { infer_scatter(args, context); }
  static void launch(const Args& args, LaunchContext& context) {
    if (context.out_impl().data() != context.in_impl(0).data())
      run_copy(context.ctx, context.out_impl(), context.in_impl(0));
    const ScatterParams params{context.out(), context.in(1),
                               context.in(2), int(args.dim),
                               Combine::kAdd, are_deterministic_algorithms_enabled()};
    if (params.index.numel > 0) run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    if (context.needs(0)) context.set(0, context.grad());
    if (context.needs(2)) context.set(2, gradient_of_source(args, context));
  }
};

struct Nonzero {
  struct Args {};
  static constexpr OpInfo info{
      .name = "nonzero", .effect = Effect::kDynamicShape, .non_differentiable = out_slot(0)};
  static void infer(const Args&, InferContext& context) {
    context.set(0, Dims{context.in(0).numel, context.in(0).dim}, kLong);
    context.out().late = true;
  }
  static void launch(const Args&, LaunchContext& context) {
    const View in = context.in(0);
    int64_t rows = 0;
    if (in.numel > 0) {
      const Tensor count = allocate_tensor({}, kLong, context.ctx.device());
      run_kernel(context.ctx, NonzeroCountParams{in, view_of(impl_of(count))});
      rows = context.read_back<int64_t>(count);
    }
    // A coordinate's numbers lie side by side, so that where(mask)[d] is contiguous.
    context.allocate(0, {rows, in.dim});
    if (in.dim > 0)
      const_cast<TensorImpl&>(context.out_impl()).set_geometry({rows, in.dim}, {1, rows});
    const View out = context.out();
    if (out.numel > 0) run_kernel(context.ctx, NonzeroFillParams{in, out});
  }
};

}  // namespace

HEARTH_DEFINE_OUT(gather, (int64_t dim, const Tensor& index, bool),
                  invoke<Gather>({wrap_dim(dim, self.dim())}, self, index))
HEARTH_DEFINE_POINTWISE(scatter_add, (int64_t dim, const Tensor& index, const Tensor& src),
                        invoke<ScatterAdd>({wrap_dim(dim, self.dim())}, self, index, src))
HEARTH_DEFINE_OUT(nonzero, (), invoke<Nonzero>({}, self))
HEARTH_DEFINE_METHOD(Tensor, argwhere, (), self.nonzero())

}  // namespace hearth
