// GLU, a * sigmoid(b), and its gradients as pointwise kernels on both halves of the input.
#include "seam/glu.h"

#include "functors/activation.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

void run(const GluParams& params, Ctx& ctx) {
  const View a = half_of(params.in, params.dim, 0), b = half_of(params.in, params.dim, 1);
  compute<fn::Gate>(Formula::kValue, params.out, {&a, &b}, ctx);
}

void run(const GluBackwardParams& params, Ctx& ctx) {
  const View a = half_of(params.in, params.dim, 0), b = half_of(params.in, params.dim, 1);
  const View& g = params.grad_out;
  compute<fn::Gate>(Formula::kGradA, half_of(params.grad_in, params.dim, 0), {&g, &a, &b}, ctx);
  compute<fn::Gate>(Formula::kGradB, half_of(params.grad_in, params.dim, 1), {&g, &a, &b}, ctx);
}

}  // namespace hearth::cpu
