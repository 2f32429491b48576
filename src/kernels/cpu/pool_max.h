#pragma once

#include <cstdint>

#include "hearth/small_vector.h"
#include "seam/pool.h"

namespace hearth::cpu {

/// Whether positions in an image fit into the 32 bits that the vectors have for them.
bool has_small_positions(const PoolShape& shape);

/// A window of adjacent channels (one, unless the image is channels_last): element k of channel c
/// is `in[offsets[k] + c]`. There is at least one element.
struct ChannelWindow {
  SmallVector<int64_t, 16> offsets;
  SmallVector<int32_t, 16> positions;

  /// Computes the largest element of each channel and its position.
  void run(const float* in, int64_t channels, float* out, int64_t* indices) const;
};

/// Max pooling of contiguous float32 rows by vectors, for windows whose columns are inside the
/// input.
class MaxTaps {
 public:
  /// layer_stride and row_stride are the input's strides, in elements.
  MaxTaps(const PoolShape& shape, int64_t layer_stride, int64_t row_stride);

  /// run() computes the columns [first_column(), end_column()).
  int64_t first_column() const { return first_column_; }
  int64_t end_column() const { return end_column_; }
  /// Computes a row of windows of the image at `in`: the largest elements and their positions.
  /// Returns false, without an effect, if vectors do not suit the row.
  bool run(const float* in, int64_t layer, int64_t row, float* out, int64_t* indices) const;

 private:
  /// The number of elements that each window of a row has inside the input; not positive if there
  /// are none or if they are not the first ones of offsets_.
  int64_t taps(int64_t layer, int64_t row) const;

  PoolShape shape_;
  int64_t layer_stride_, row_stride_;
  int64_t first_column_ = 0, end_column_ = 0;
  // Offsets and positions of a whole window's elements, relative to the first one; empty if vectors
  // do not suit the shape.
  SmallVector<int64_t, 16> offsets_;
  SmallVector<int32_t, 16> positions_;
};

}  // namespace hearth::cpu
