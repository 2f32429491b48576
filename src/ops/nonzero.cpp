#include "seam/nonzero.h"

#include <algorithm>

#include "ops/composed_out.h"

namespace hearth {

namespace {

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
    // Column-major, so that where(mask)[d] is contiguous.
    context.allocate(0, {rows, in.dim});
    if (in.dim > 0)
      const_cast<TensorImpl&>(context.out_impl()).set_geometry({rows, in.dim}, {1, rows});
    const View out = context.out();
    if (out.numel > 0) run_kernel(context.ctx, NonzeroFillParams{in, out});
  }
};

/// The first rows of nonzero, and rows of fill_value up to `size` rows.
Tensor first_nonzeros(const Tensor& self, int64_t size, int64_t fill_value) {
  HEARTH_CHECK(size >= 0, "nonzero_static: 'size' must be an non-negative integer");
  const Tensor result =
      full({size, self.dim()}, fill_value, TensorOptions(kLong).device(self.device()));
  if (self.is_meta()) return result;
  const Tensor found = self.nonzero();
  const int64_t rows = std::min(size, found.size(0));
  result.narrow(0, 0, rows).copy_(found.narrow(0, 0, rows));
  return result;
}

}  // namespace

HEARTH_DEFINE_OUT(nonzero, (), invoke<Nonzero>({}, self))
HEARTH_DEFINE_COMPOSED_OUT(nonzero_static, (int64_t size, int64_t fill_value),
                           first_nonzeros(self, size, fill_value))
HEARTH_DEFINE_METHOD(std::vector<Tensor>, nonzero_numpy, (),
                     (self.dim() == 0 ? self.unsqueeze(0) : self).nonzero().unbind(1))
HEARTH_DEFINE_METHOD(Tensor, argwhere, (), self.nonzero())

}  // namespace hearth
