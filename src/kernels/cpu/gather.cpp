#include "kernels/gather.h"

#include <algorithm>

#include "kernels/cpu/index_loop.h"

namespace hearth::cpu {

namespace {

/// A 0-d view as one element of a 1-d one.
View at_least_1d(View view) {
  if (view.dim > 0) return view;
  view.dim = 1;
  view.sizes[0] = view.strides[0] = 1;
  return view;
}

View with_sizes_of(const View& shape, View view) {
  std::copy_n(shape.sizes, shape.dim, view.sizes);
  view.numel = shape.numel;
  return view;
}

/// Gather and scatter are indexing: the index stands for one dimension of the table, the position's own
/// coordinates for all others.
template <class Run>
void with_job(const View& table, const View& index, const View& list, int dim, const Run& run) {
  const View positions = at_least_1d(index);
  const View whole = at_least_1d(table);
  View kept = with_sizes_of(positions, whole);
  kept.strides[dim] = 0;
  const IndexedDim indexed{positions, whole.sizes[dim], whole.strides[dim], dim};
  run(IndexJob{kept, {&indexed, 1}, with_sizes_of(positions, at_least_1d(list)), false});
}

}  // namespace

void run(const GatherParams& params, Ctx& ctx) {
  with_job(params.in, params.index, params.out, params.dim, [&](const IndexJob& job) {
    read_indexed(job, copy_from_table(element_size(params.in.dtype)), ctx);
  });
}

void run(const ScatterAddParams& params, Ctx& ctx) {
  with_job(params.out, params.index, params.src, params.dim, [&](const IndexJob& job) {
    write_indexed(job, add_to_table(params.out.dtype), ctx);
  });
}

}  // namespace hearth::cpu
