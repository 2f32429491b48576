#include "kernels/cpu/reduce_plan.h"

namespace hearth::cpu {

void ReduceDims::add(int64_t size, int64_t in_stride, int64_t out_stride) {
  const auto outside = [](int64_t a, int64_t b) { return b != 0 && (a == 0 || a >= b); };
  int at = dim++;
  for (; at > 0 && !outside(in[at - 1], in_stride); --at) {
    sizes[at] = sizes[at - 1];
    in[at] = in[at - 1];
    out[at] = out[at - 1];
  }
  sizes[at] = size;
  in[at] = in_stride;
  out[at] = out_stride;
  numel *= size;
}

void ReduceDims::merge() {
  int last = 0;
  for (int d = 1; d < dim; ++d) {
    if (in[last] == in[d] * sizes[d] && out[last] == out[d] * sizes[d]) {
      sizes[last] *= sizes[d];
    } else {
      sizes[++last] = sizes[d];
    }
    in[last] = in[d];
    out[last] = out[d];
  }
  if (dim > 0) dim = last + 1;
}

ReducePlan::ReducePlan(const View& in, const View& view_out) {
  for (int d = 0; d < in.dim; ++d) {
    if (in.sizes[d] == 1) continue;
    if (view_out.sizes[d] == 1)
      reduced.add(in.sizes[d], in.strides[d], 0);
    else
      kept.add(in.sizes[d], in.strides[d], view_out.strides[d]);
  }
  kept.merge();
  reduced.merge();
}

}  // namespace hearth::cpu
