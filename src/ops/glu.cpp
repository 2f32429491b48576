#include "seam/glu.h"

#include "hearth/operators.h"
#include "ops/define.h"
#include "ops/memory_order.h"

namespace hearth {

namespace {

/// Inputs: grad_out and the input of glu.
struct GluBackward {
  using Args = DimArgs;
  static constexpr OpInfo info{.name = "glu_backward",
                               .arguments = "grad_out,self",
                               .dtypes = dtypes::kFloating,
                               .saves = in_slot(0) | in_slot(1)};
  static void infer(const Args&, InferContext& context) {
    context.set(0, context.in(1).sizes(), context.in(1).dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    run_kernel(context.ctx,
               GluBackwardParams{context.in(0), context.in(1), context.out(), int(args.dim)});
  }
  static void grad(const Args& args, GradContext& context) {
    const auto halves = context.in(1).chunk(2, args.dim), grads = context.grad().chunk(2, args.dim);
    const Tensor g = context.in(0), a = halves[0], gate = halves[1].sigmoid();
    const Tensor &grad_a = grads[0], &grad_b = grads[1];
    const Tensor slope = gate * (1 - gate);
    if (context.needs(0)) context.set(0, grad_a * gate + grad_b * a * slope);
    if (context.needs(1))
      context.set(1, cat({grad_b * g * slope, (grad_a + grad_b * a * (1 - 2 * gate)) * g * slope},
                         args.dim));
  }
};

struct Glu {
  using Args = DimArgs;
  static constexpr OpInfo info{.name = "glu", .dtypes = dtypes::kFloating, .saves = in_slot(0)};
  static void infer(const Args& args, InferContext& context) {
    Dims sizes(context.in(0).sizes());
    int64_t& size = sizes[size_t(args.dim)];
    HEARTH_CHECK(size % 2 == 0, "Halving dimension must be even, but dimension ", args.dim,
                 " is size ", size);
    size /= 2;
    context.set(0, sizes, context.in(0).dtype);
    const Dims strides(context.in(0).strides());
    keep_memory_order(context.out(), &strides, 1);
  }
  static void launch(const Args& args, LaunchContext& context) {
    run_kernel(context.ctx, GluParams{context.in(0), context.out(), int(args.dim)});
  }
  static void grad(const Args& args, GradContext& context) {
    context.set(0, invoke<GluBackward>(args, context.grad(), context.in(0)).call());
  }
};

auto glu_along(const Tensor& self, int64_t dim) {
  HEARTH_CHECK(self.dim() > 0, "glu does not support 0-dimensional tensors");
  return invoke<Glu>({wrap_dim(dim, self.dim())}, self);
}

}  // namespace

HEARTH_DEFINE_OUT(glu, (int64_t dim), glu_along(self, dim))

}  // namespace hearth
