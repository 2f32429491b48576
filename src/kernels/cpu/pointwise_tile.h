#pragma once

#include "seam/pointwise.h"

namespace hearth::cpu {

/// The most elements of a tile, and the bytes a tile's elements may take in the dtype of the
/// computation.
inline constexpr int64_t kTileElements = 1024;
inline constexpr int64_t kTileBytes = 4096;

/// The split of a pointwise kernel's shape into tiles of rows x cols elements: ranges of the last
/// dimension, or rectangles of it and another dimension where memory access is faster that way.
struct Tiling {
  int dims = 0;  // at least 1
  int64_t sizes[kMaxDims];
  int row_dim = -1;  // -1: tiles have one row
  int64_t rows = 1, cols = 1;
  int64_t count = 0;

  Tiling(const PointwiseParams& params, int64_t max_elements);
};

/// One tile: its extent and its first position in every dimension.
struct Tile {
  int64_t rows, cols;
  int64_t start[kMaxDims];

  Tile(const Tiling& tiling, int64_t index);
  int64_t elements() const { return rows * cols; }
};

/// A tile's elements in an operand: the first one's address, and strides in bytes.
struct TileView {
  char* data;
  int64_t row_stride, col_stride;

  TileView(const Operand& operand, const Tiling& tiling, const Tile& tile);
  bool dense(const Tile& tile, int64_t size) const {
    return (col_stride == size || tile.cols == 1) &&
           (tile.rows == 1 || row_stride == tile.cols * size);
  }
};

/// Copies a tile's elements of `size` bytes into a dense buffer, row by row.
void gather(const Tile& tile, const TileView& from, int64_t size, void* to);
/// Copies a dense buffer to a tile's elements.
void scatter(const Tile& tile, const void* from, int64_t size, const TileView& to);
/// Writes n copies of one element.
void fill(void* to, const void* element, int64_t size, int64_t n);

}  // namespace hearth::cpu
