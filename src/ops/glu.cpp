#include "kernels/glu.h"

#include "hearth/operators.h"
#include "ops/define.h"

namespace hearth {

namespace {

struct GluArgs {
  int64_t dim;
  HEARTH_FIELDS(dim)
};

/// Inputs: grad_out and glu's own.
struct GluBackward {
  using Args = GluArgs;
  static constexpr OpInfo info{.name = "glu_backward",
                               .arguments = "grad_out,self",
                               .dtypes = dtypes::kFloating,
                               .saves = in_slot(0) | in_slot(1)};
  static void infer(const Args&, Infer& c) { c.like(0, c.in(1)); }
  static void launch(const Args& args, Launch& c) {
    hearth::launch(c.ctx, GluBackwardParams{c.in(0), c.in(1), c.out(), int(args.dim)});
  }
  static void grad(const Args& args, Grad& c) {
    const auto halves = c.in(1).chunk(2, args.dim), upstream = c.grad().chunk(2, args.dim);
    const Tensor g = c.in(0), a = halves[0], gate = halves[1].sigmoid();
    const Tensor &by_a = upstream[0], by_b = upstream[1], slope = gate * (1 - gate);
    if (c.needs(0)) c.set(0, by_a * gate + by_b * a * slope);
    if (c.needs(1))
      c.set(1, cat({by_b * g * slope, (by_a + by_b * a * (1 - 2 * gate)) * g * slope}, args.dim));
  }
};

struct Glu {
  using Args = GluArgs;
  static constexpr OpInfo info{.name = "glu", .dtypes = dtypes::kFloating, .saves = in_slot(0)};
  static void infer(const Args& args, Infer& c) {
    Dims sizes(c.in(0).sizes());
    int64_t& size = sizes[size_t(args.dim)];
    HEARTH_CHECK(size % 2 == 0, "Halving dimension must be even, but dimension ", args.dim,
                 " is size ", size);
    size /= 2;
    c.set(0, sizes, c.in(0).dtype);
  }
  static void launch(const Args& args, Launch& c) {
    hearth::launch(c.ctx, GluParams{c.in(0), c.out(), int(args.dim)});
  }
  static void grad(const Args& args, Grad& c) {
    c.set(0, invoke<GluBackward>(args, c.grad(), c.in(0)).call());
  }
};

auto glu_along(const Tensor& self, int64_t dim) {
  HEARTH_CHECK(self.dim() > 0, "glu does not support 0-dimensional tensors");
  return invoke<Glu>({wrap_dim(dim, self.dim())}, self);
}

}  // namespace

HEARTH_DEFINE_OUT(glu, (int64_t dim), glu_along(self, dim))

}  // namespace hearth
