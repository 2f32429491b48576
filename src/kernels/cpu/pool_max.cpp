// Max pooling of float32 by vectors: adjacent windows of a row or, in channels_last, the channels
// of a window. Prepares the offsets of the elements for pool_max_loops.h, which has the loop.
#include "kernels/cpu/pool_max.h"

#include <algorithm>
#include <limits>

#include "kernels/cpu/isa_table.h"
#include "kernels/cpu/pool_max_kernels.h"

namespace hearth::cpu {

namespace {

/// The number of window i's elements that are inside the input.
int64_t elements_inside(const PoolWindow& w, int64_t i) {
  if (w.begin(i) >= 0 && w.end(i) <= w.in) return w.kernel;
  return std::max<int64_t>(0, (w.last(i) - w.first(i) + w.dilation - 1) / w.dilation);
}

}  // namespace

bool has_small_positions(const PoolShape& shape) {
  return shape.depth().in * shape.rows().in * shape.columns().in <=
         std::numeric_limits<int32_t>::max();
}

void ChannelWindow::run(const float* in, int64_t channels, float* out, int64_t* indices) const {
  HEARTH_ISA_TABLE(pool_max_table)
      .maxima({in, offsets.data(), positions.data(), int64_t(offsets.size()), 1, 0, 0, out, indices,
               channels});
}

MaxTaps::MaxTaps(const PoolShape& shape, int64_t layer_stride, int64_t row_stride)
    : shape_(shape), layer_stride_(layer_stride), row_stride_(row_stride) {
  constexpr int64_t kMaxStride = 2;  // of the loop
  if (shape.kind != PoolKind::kMax || shape.columns().stride > kMaxStride) return;
  if (!has_small_positions(shape)) return;
  const PoolWindow &depth = shape.depth(), &rows = shape.rows(), &columns = shape.columns();
  end_column_ = columns.out;
  while (first_column_ < end_column_ && columns.begin(first_column_) < 0) ++first_column_;
  while (first_column_ < end_column_ && columns.end(end_column_ - 1) > columns.in) --end_column_;
  if (first_column_ + 1 >= end_column_) return;
  for (int64_t z = 0; z < depth.kernel; ++z)
    for (int64_t y = 0; y < rows.kernel; ++y)
      for (int64_t x = 0; x < columns.kernel; ++x) {
        const int64_t layer = z * depth.dilation, row = y * rows.dilation,
                      column = x * columns.dilation;
        offsets_.push_back(layer * layer_stride + row * row_stride + column);
        positions_.push_back(int32_t((layer * rows.in + row) * columns.in + column));
      }
}

int64_t MaxTaps::taps(int64_t layer, int64_t row) const {
  if (offsets_.empty()) return 0;
  const int64_t layers = elements_inside(shape_.depth(), layer),
                rows = elements_inside(shape_.rows(), row);
  if (layers > 1 && rows < shape_.rows().kernel) return 0;
  return ((layers - 1) * shape_.rows().kernel + rows) * shape_.columns().kernel;
}

bool MaxTaps::run(const float* in, int64_t layer, int64_t row, float* out, int64_t* indices) const {
  const int64_t taps = this->taps(layer, row);
  if (taps <= 0) return false;
  const int64_t z = shape_.depth().first(layer), y = shape_.rows().first(row);
  const PoolWindow& columns = shape_.columns();
  const int64_t x = columns.begin(first_column_);
  HEARTH_ISA_TABLE(pool_max_table)
      .maxima({in + z * layer_stride_ + y * row_stride_ + x, offsets_.data(), positions_.data(),
               taps, columns.stride, (z * shape_.rows().in + y) * columns.in + x, columns.stride,
               out + first_column_, indices + first_column_, end_column_ - first_column_});
  return true;
}

}  // namespace hearth::cpu
