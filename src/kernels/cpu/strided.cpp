// Runs pointwise kernels on views, for other kernels; pointwise.cpp has the loops.
#include "kernels/cpu/strided.h"

#include "functors/arithmetic.h"
#include "seam/pointwise.h"

namespace hearth::cpu {

namespace {

constexpr int kViews = kMaxOperands + 1;

Operand as_operand(const View& view, const StridedLoop<kViews>& loop, int operand) {
  Operand result;
  result.data = view.data;
  result.dtype = view.dtype;
  std::copy_n(loop.strides[operand], loop.dim, result.strides);
  return result;
}

}  // namespace

void refuse_dtype(ScalarType dtype) {
  detail::fail<NotImplementedError>("this operation is not implemented for '",
                                    by_name::name_of(dtype), "'");
}

void compute(int functor, Formula formula, const View& out,
             std::initializer_list<const View*> inputs, Ctx& ctx) {
  if (out.numel == 0) return;
  StridedLoop<kViews> loop;
  loop.dim = out.dim;
  std::copy_n(out.sizes, out.dim, loop.sizes);
  loop.add(out.strides);
  for (const View* input : inputs) loop.add(input->strides);
  loop.merge();
  PointwiseParams params;
  params.functor = static_cast<int16_t>(functor);
  params.formula = formula;
  params.compute = out.dtype;
  params.dim = static_cast<int8_t>(loop.dim);
  params.numel = out.numel;
  std::copy_n(loop.sizes, loop.dim, params.sizes);
  params.out = as_operand(out, loop, 0);
  for (const View* input : inputs) {
    params.in[params.inputs] = as_operand(*input, loop, params.inputs + 1);
    ++params.inputs;
  }
  run(params, ctx);
}

void copy(const View& from, const View& to, Ctx& ctx) {
  compute<fn::Copy>(Formula::kValue, to, {&from}, ctx);
}

}  // namespace hearth::cpu
