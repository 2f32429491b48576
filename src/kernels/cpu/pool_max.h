#pragma once

#include <cstdint>

#include "hearth/small_vector.h"
#include "seam/pool.h"

namespace hearth::cpu {

/// Max pooling of contiguous float32 rows by vectors, for windows that are inside the input.
class MaxTaps {
 public:
  /// layer_stride and row_stride are the input's strides, in elements.
  MaxTaps(const PoolShape& shape, int64_t layer_stride, int64_t row_stride);

  /// Whether run() can compute the windows with this layer and row.
  bool covers(int64_t layer, int64_t row) const {
    return !offsets_.empty() && is_inside(shape_.depth(), layer) && is_inside(shape_.rows(), row);
  }
  /// Computes a row of windows of the image at `in`: the largest elements and their positions.
  void run(const float* in, int64_t layer, int64_t row, float* out, int64_t* indices) const;

 private:
  static bool is_inside(const PoolWindow& w, int64_t i) {
    return w.begin(i) >= 0 && w.end(i) <= w.in;
  }

  PoolShape shape_;
  int64_t layer_stride_, row_stride_;
  // Offsets and positions of a window's elements, relative to the first one; empty if vectors do
  // not suit the shape.
  SmallVector<int64_t, 16> offsets_;
  SmallVector<int32_t, 16> positions_;
};

}  // namespace hearth::cpu
