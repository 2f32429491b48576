#include "seam/gather.h"

#include <algorithm>

#include "kernels/cpu/index_loop.h"

namespace hearth::cpu {

namespace {

/// Turns a 0-d view into a 1-d view of one element.
void make_at_least_1d(View& view) {
  if (view.dim > 0) return;
  view.dim = 1;
  view.sizes[0] = view.strides[0] = 1;
}

void set_sizes(View& view, const View& like) {
  std::copy_n(like.sizes, like.dim, view.sizes);
  view.numel = like.numel;
}

/// Calls run(job) with a gather or scatter as an IndexJob: the index replaces one coordinate in the
/// table, the others are the position's own.
template <class Run>
void with_job(const View& table, const View& index, const View& values, int dim, const Run& run) {
  View kept = table, indexed_values = values;
  IndexedDim indexed{index, 0, 0, dim};
  for (View* view : {&kept, &indexed_values, &indexed.index}) make_at_least_1d(*view);
  indexed.size = kept.sizes[dim];
  indexed.stride = kept.strides[dim];
  kept.strides[dim] = 0;
  set_sizes(kept, indexed.index);
  set_sizes(indexed_values, indexed.index);
  run(IndexJob{kept, {&indexed, 1}, indexed_values, false});
}

MoveBlock combination(const ScatterParams& params) {
  switch (params.combine) {
    case Combine::kReplace: return copy_to_table(element_size(params.out.dtype));
    case Combine::kMultiply: return multiply_table(params.out.dtype);
    default: return add_to_table(params.out.dtype);
  }
}

}  // namespace

void run(const GatherParams& params, Ctx& ctx) {
  with_job(params.in, params.index, params.out, params.dim, [&](const IndexJob& job) {
    read_indexed(job, copy_from_table(element_size(params.in.dtype)), ctx);
  });
}

void run(const ScatterParams& params, Ctx& ctx) {
  with_job(params.out, params.index, params.src, params.dim,
           [&](const IndexJob& job) { write_indexed(job, combination(params), ctx); });
}

}  // namespace hearth::cpu
