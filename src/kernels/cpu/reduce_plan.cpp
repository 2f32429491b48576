// Orders and merges the dimensions of a reduction, so that the runs along the innermost are long.
#include "kernels/cpu/reduce_plan.h"

namespace hearth::cpu {

void ReduceDims::add(int64_t size, int64_t in_stride, int64_t out_stride) {
  const auto outside = [](int64_t a, int64_t b) { return b != 0 && (a == 0 || a >= b); };
  int position = dim++;
  for (; position > 0 && !outside(in[position - 1], in_stride); --position) {
    sizes[position] = sizes[position - 1];
    in[position] = in[position - 1];
    out[position] = out[position - 1];
  }
  sizes[position] = size;
  in[position] = in_stride;
  out[position] = out_stride;
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

ReducePlan::ReducePlan(const View& in, const View& out) {
  for (int d = 0; d < in.dim; ++d) {
    if (in.sizes[d] == 1) continue;
    if (out.sizes[d] == 1)
      reduced.add(in.sizes[d], in.strides[d], 0);
    else
      kept.add(in.sizes[d], in.strides[d], out.strides[d]);
  }
  kept.merge();
  reduced.merge();
}

}  // namespace hearth::cpu
