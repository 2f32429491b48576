#pragma once

#include "seam/table.h"
#include "seam/view.h"

#if defined(__CUDACC__)
#define HEARTH_POOL_FN __host__ __device__ __forceinline__
#else
#define HEARTH_POOL_FN inline
#endif

namespace hearth {

enum class PoolKind : int8_t { kMax, kAverage, kAdaptiveMax, kAdaptiveAverage, kFractionalMax };

constexpr bool is_max(PoolKind kind) {
  return kind != PoolKind::kAverage && kind != PoolKind::kAdaptiveAverage;
}

/// Returns the number of windows that begin at 0, stride, …, up to max_begin; at most 0 if
/// max_begin is negative.
constexpr int64_t window_count(int64_t max_begin, int64_t stride) {
  return (max_begin >= 0 ? max_begin / stride : -((-max_begin + stride - 1) / stride)) + 1;
}

/// The windows along one dimension. The window of output i has the positions begin(i), begin(i) +
/// dilation, … below end(i) that are in [0, in).
struct PoolWindow {
  int64_t in = 1, out = 1;
  int64_t kernel = 1, stride = 1, padding = 0, dilation = 1;
  bool adaptive = false;
  const int64_t* begins = nullptr;  // of irregular windows: begin(i), which is inside the input

  HEARTH_POOL_FN int64_t begin(int64_t i) const {
    if (begins) return begins[i];
    return adaptive ? i * in / out : i * stride - padding;
  }
  /// May be larger than `in`.
  HEARTH_POOL_FN int64_t end(int64_t i) const {
    return adaptive ? ((i + 1) * in + out - 1) / out : begin(i) + (kernel - 1) * dilation + 1;
  }
  /// The window's positions inside the input are in [first(i), last(i)).
  HEARTH_POOL_FN int64_t first(int64_t i) const {
    const int64_t b = begin(i);
    return b >= 0 ? b : b + (-b + dilation - 1) / dilation * dilation;
  }
  HEARTH_POOL_FN int64_t last(int64_t i) const {
    const int64_t e = end(i);
    return e < in ? e : in;
  }
  /// The number of positions in a window without dilation, padding included.
  HEARTH_POOL_FN int64_t padded_count(int64_t i) const {
    const int64_t e = end(i), limit = in + padding;
    return (e < limit ? e : limit) - begin(i);
  }
  /// The same without padding.
  HEARTH_POOL_FN int64_t count(int64_t i) const { return last(i) - first(i); }
  /// Only the windows of outputs [first_covering(p), end_covering(p)) may contain position p.
  HEARTH_POOL_FN int64_t first_covering(int64_t p) const {
    if (adaptive) return p * out / in;
    const int64_t min_begin = p + padding - (kernel - 1) * dilation;
    return min_begin <= 0 ? 0 : (min_begin + stride - 1) / stride;
  }
  HEARTH_POOL_FN int64_t end_covering(int64_t p) const {
    const int64_t end = adaptive ? ((p + 1) * out + in - 1) / in : (p + padding) / stride + 1;
    return end < out ? end : out;
  }
};

/// The windows of one pooling operator in three dimensions; an image has a depth of 1.
struct PoolShape {
  PoolKind kind = PoolKind::kMax;
  PoolWindow windows[3];  // along depth, rows and columns
  bool count_include_pad = true;
  int64_t divisor = 0;  // of averages; 0: the number of positions

  HEARTH_POOL_FN const PoolWindow& depth() const { return windows[0]; }
  HEARTH_POOL_FN const PoolWindow& rows() const { return windows[1]; }
  HEARTH_POOL_FN const PoolWindow& columns() const { return windows[2]; }
  /// The number of positions of window i along dimension d that an average counts.
  HEARTH_POOL_FN int64_t counted(int d, int64_t i) const {
    return count_include_pad ? windows[d].padded_count(i) : windows[d].count(i);
  }
  HEARTH_POOL_FN int64_t divisor_at(int64_t layer, int64_t row, int64_t column) const {
    return divisor != 0 ? divisor : counted(0, layer) * counted(1, row) * counted(2, column);
  }
  /// The number of entries of set_begins(): one per window along depth, then rows and columns.
  HEARTH_POOL_FN int64_t begins() const { return depth().out + rows().out + columns().out; }
  HEARTH_POOL_FN void set_begins(const int64_t* begins) {
    windows[0].begins = begins;
    windows[1].begins = begins + depth().out;
    windows[2].begins = begins + depth().out + rows().out;
  }
};

/// out[n, c, k, i, j] = maximum or average of in[n, c] over window (k, i, j). `indices` (int64,
/// out's sizes; undefined for averages) is the position of the maximum in its volume: (layer *
/// height + row) * width + column. Views are 5-D. The maximum is the last NaN if there is one, else
/// the first of equal elements. Averages of integers are truncated. `begins` (int64, [n, c,
/// shape.begins()], contiguous) are the positions at which kFractionalMax's windows begin,
/// undefined for other kinds. Dtypes: all real ones for maxima; floating ones and int64 for
/// averages.
struct PoolParams {
  View in, out, indices, begins;
  PoolShape shape;
};

/// grad_in = the sum over all windows of grad_out at the position of the maximum, or of grad_out /
/// divisor at every position of the window. Every element of grad_in is written. Floating dtypes;
/// not of kFractionalMax.
struct PoolBackwardParams {
  View grad_out, grad_in, indices;
  PoolShape shape;
};

}  // namespace hearth
