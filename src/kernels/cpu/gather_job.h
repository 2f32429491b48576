#pragma once

// Shared by gather and scatter.

#include <algorithm>

#include "kernels/cpu/index_loop.h"

namespace hearth::cpu {

/// Turns a 0-d view into a 1-d view of one element.
inline void make_at_least_1d(View& view) {
  if (view.dim > 0) return;
  view.dim = 1;
  view.sizes[0] = view.strides[0] = 1;
}

inline void set_sizes(View& view, const View& like) {
  std::copy_n(like.sizes, like.dim, view.sizes);
  view.numel = like.numel;
}

/// Calls run(job) with a gather or scatter as an IndexJob: along `dim`, the index is the coordinate
/// in the table; the other coordinates in the table are the coordinates of the index element.
template <class Run>
void with_gather_job(const View& table, const View& index, const View& values, int dim,
                     const Run& run) {
  View origin = table, indexed_values = values;
  IndexedDim indexed{index, 0, 0, dim};
  for (View* view : {&origin, &indexed_values, &indexed.index}) make_at_least_1d(*view);
  indexed.size = origin.sizes[dim];
  indexed.stride = origin.strides[dim];
  origin.strides[dim] = 0;
  set_sizes(origin, indexed.index);
  set_sizes(indexed_values, indexed.index);
  run(IndexJob{origin, {&indexed, 1}, indexed_values, false});
}

}  // namespace hearth::cpu
