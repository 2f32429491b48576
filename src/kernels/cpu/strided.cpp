#include "kernels/cpu/strided.h"

#include "functors/arithmetic.h"
#include "kernels/pointwise.h"

namespace hearth::cpu {

namespace {

Operand as_operand(const View& view, const StridedLoop<2>& loop, int operand) {
  Operand result;
  result.data = view.data;
  result.dtype = view.dtype;
  std::copy_n(loop.strides[operand], loop.dim, result.strides);
  return result;
}

}  // namespace

void copy(const View& from, const View& to, Ctx& ctx) {
  if (to.numel == 0) return;
  const StridedLoop<2> loop{&to, &from};
  PointwiseParams params;
  params.functor = fn::number_of<fn::Copy>;
  params.inputs = 1;
  params.compute = to.dtype;
  params.dim = static_cast<int8_t>(loop.dim);
  params.numel = to.numel;
  std::copy_n(loop.sizes, loop.dim, params.sizes);
  params.out = as_operand(to, loop, 0);
  params.in[0] = as_operand(from, loop, 1);
  run(params, ctx);
}

}  // namespace hearth::cpu
