// Operators that address one dimension by an index tensor, and nonzero.
#include "ops/index_along.h"

#include <algorithm>

#include "hearth/autograd.h"
#include "hearth/context.h"
#include "kernels/gather.h"
#include "kernels/nonzero.h"
#include "ops/copy.h"
#include "ops/define.h"

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
  static void infer(const Args& args, Infer& c) {
    check_index("gather", c.in(1));
    if (c.in(1).numel > 0) check_fits(args, c.in(0), c.in(1));
    c.set(0, c.in(1).sizes(), c.in(0).dtype);
  }
  static void check_fits(const Args& args, const TensorImpl& self, const TensorImpl& index) {
    check_same_dims("gather", index, self, "input");
    const int d = misfit(index, self, args.dim);
    HEARTH_CHECK(d < 0, "Size does not match at dimension ", d, " expected index ", index.sizes(),
                 " to be no larger than self ", self.sizes(), " apart from dimension ", args.dim);
  }
  static void launch(const Args& args, Launch& c) {
    const GatherParams params{c.in(0), c.in(1), c.out(), int(args.dim)};
    if (params.out.numel > 0) hearth::launch(c.ctx, params);
  }
  static void grad(const Args& args, Grad& c) {
    if (c.needs(0))
      c.set(0, zeros(c.in_sizes(0), c.grad().options()).scatter_add(args.dim, c.in(1), c.grad()));
  }
};

}  // namespace

void infer_scatter(const DimArgs& args, Infer& c) {
  const TensorImpl &self = c.in(0), &index = c.in(1), &src = c.in(2);
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
  c.set(0, self.sizes(), self.dtype);
}

Tensor gradient_of_source(const DimArgs& args, const Grad& c) {
  const Tensor index = c.in(1);
  const Tensor picked = c.grad().gather(args.dim, index);
  if (index.sizes().equals(c.in_sizes(2))) return picked;
  // src may be larger than the index; the rest of it was not used.
  Tensor full = zeros(c.in_sizes(2), picked.options());
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
  static void infer(const Args& args, Infer& c) { infer_scatter(args, c); }
  static void launch(const Args& args, Launch& c) {
    if (c.out_impl().data() != c.in_impl(0).data()) launch_copy(c.ctx, c.out_impl(), c.in_impl(0));
    const ScatterParams params{c.out(),       c.in(1),
                               c.in(2),       int(args.dim),
                               Combine::kAdd, are_deterministic_algorithms_enabled()};
    if (params.index.numel > 0) hearth::launch(c.ctx, params);
  }
  static void grad(const Args& args, Grad& c) {
    if (c.needs(0)) c.set(0, c.grad());
    if (c.needs(2)) c.set(2, gradient_of_source(args, c));
  }
};

struct Nonzero {
  struct Args {};
  static constexpr OpInfo info{
      .name = "nonzero", .effect = Effect::kDynamicShape, .non_differentiable = out_slot(0)};
  static void infer(const Args&, Infer& c) {
    c.set(0, Dims{c.in(0).numel, c.in(0).dim}, kLong);
    c.out().late = true;
  }
  static void launch(const Args&, Launch& c) {
    const View in = c.in(0);
    int64_t rows = 0;
    if (in.numel > 0) {
      const Tensor count = allocate_tensor({}, kLong, c.ctx.device());
      hearth::launch(c.ctx, NonzeroCountParams{in, view_of(impl_of(count))});
      rows = c.read_back<int64_t>(count);
    }
    // A coordinate's numbers lie side by side, so that where(mask)[d] is contiguous.
    c.allocate(0, {rows, in.dim});
    if (in.dim > 0) const_cast<TensorImpl&>(c.out_impl()).set_geometry({rows, in.dim}, {1, rows});
    const View out = c.out();
    if (out.numel > 0) hearth::launch(c.ctx, NonzeroFillParams{in, out});
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
