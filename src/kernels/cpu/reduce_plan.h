#pragma once

#include <cstdint>

#include "seam/view.h"

namespace hearth::cpu {

/// The kept or the reduced dimensions of a reduction, outermost first.
struct ReduceDims {
  int dim = 0;
  int64_t numel = 1;
  int64_t sizes[kMaxDims];
  int64_t in[kMaxDims];   // strides of the input
  int64_t out[kMaxDims];  // strides of the output; 0 for reduced dimensions

  /// Inserts a dimension by its input stride: the smallest is innermost, 0 outermost.
  void add(int64_t size, int64_t in_stride, int64_t out_stride);
  /// Merges adjacent dimensions that one stride can serve.
  void merge();

  int64_t inner_size() const { return dim > 0 ? sizes[dim - 1] : 1; }
  int64_t inner_in() const { return dim > 0 ? in[dim - 1] : 1; }
  int64_t inner_out() const { return dim > 0 ? out[dim - 1] : 1; }

  /// Calls f(in offset, out offset, count) for the runs along the innermost dimension that make up
  /// positions [begin, end) in row-major order.
  template <class F>
  void for_runs(int64_t begin, int64_t end, const F& f) const;
};

/// The kept and the reduced dimensions of a reduction, without dimensions of size 1.
struct ReducePlan {
  ReduceDims kept;
  ReduceDims reduced;
  ReducePlan(const View& in, const View& out);
};

template <class F>
void ReduceDims::for_runs(int64_t begin, int64_t end, const F& f) const {
  if (begin >= end) return;  // a size may be 0
  int64_t index[kMaxDims];
  int64_t in_offset = 0, out_offset = 0;
  int64_t rest = begin;
  for (int d = dim - 1; d >= 0; --d) {
    index[d] = d > 0 ? rest % sizes[d] : rest;
    rest = d > 0 ? rest / sizes[d] : 0;
    in_offset += index[d] * in[d];
    out_offset += index[d] * out[d];
  }
  if (dim <= 1) {
    f(in_offset, out_offset, end - begin);
    return;
  }
  const int inner = dim - 1;
  while (begin < end) {
    const int64_t remaining = sizes[inner] - index[inner];
    const int64_t count = remaining < end - begin ? remaining : end - begin;
    f(in_offset, out_offset, count);
    begin += count;
    in_offset -= index[inner] * in[inner];
    out_offset -= index[inner] * out[inner];
    index[inner] = 0;
    for (int d = inner - 1; d >= 0; --d) {
      in_offset += in[d];
      out_offset += out[d];
      if (++index[d] < sizes[d]) break;
      in_offset -= sizes[d] * in[d];
      out_offset -= sizes[d] * out[d];
      index[d] = 0;
    }
  }
}

}  // namespace hearth::cpu
