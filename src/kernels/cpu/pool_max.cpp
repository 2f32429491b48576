// Max pooling of float32 by vectors (not adaptive or fractional). Prepares the offsets of a
// window's elements for pool_max_loops.h, which has the loop.
#include "kernels/cpu/pool_max.h"

#include <limits>

#include "kernels/cpu/isa_table.h"
#include "kernels/cpu/pool_max_kernels.h"

namespace hearth::cpu {

namespace {

/// Whether a row has several windows, all inside the input, with a stride that the loop supports,
/// and positions in a volume fit into 32 bits.
bool suits_vectors(const PoolShape& shape) {
  const PoolWindow& w = shape.columns();
  return shape.kind == PoolKind::kMax && w.out > 1 && w.stride <= 2 && w.padding == 0 &&
         w.end(w.out - 1) <= w.in &&
         shape.depth().in * shape.rows().in * w.in <= std::numeric_limits<int32_t>::max();
}

}  // namespace

MaxTaps::MaxTaps(const PoolShape& shape, int64_t layer_stride, int64_t row_stride)
    : shape_(shape), layer_stride_(layer_stride), row_stride_(row_stride) {
  if (!suits_vectors(shape)) return;
  const PoolWindow &depth = shape.depth(), &rows = shape.rows(), &columns = shape.columns();
  for (int64_t z = 0; z < depth.kernel; ++z)
    for (int64_t y = 0; y < rows.kernel; ++y)
      for (int64_t x = 0; x < columns.kernel; ++x) {
        const int64_t layer = z * depth.dilation, row = y * rows.dilation,
                      column = x * columns.dilation;
        offsets_.push_back(layer * layer_stride + row * row_stride + column);
        positions_.push_back(int32_t((layer * rows.in + row) * columns.in + column));
      }
}

void MaxTaps::run(const float* in, int64_t layer, int64_t row, float* out, int64_t* indices) const {
  const int64_t z = shape_.depth().begin(layer), y = shape_.rows().begin(row);
  const PoolWindow& columns = shape_.columns();
  HEARTH_ISA_TABLE(pool_max_table)
      .row({in + z * layer_stride_ + y * row_stride_, offsets_.data(), positions_.data(),
            int64_t(offsets_.size()), columns.stride, (z * shape_.rows().in + y) * columns.in, out,
            indices, columns.out});
}

}  // namespace hearth::cpu
