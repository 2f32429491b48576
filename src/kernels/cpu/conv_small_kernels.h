#pragma once

#include <cstdint>

namespace hearth::cpu {

/// out[m][p] = bias[m] + the sum over j of factor(m, j) * x[offsets[j] + p]. Up to kShiftedSlack
/// elements after the last column of x may be read.
struct ShiftedSums {
  const float* factors;  // in tiles of rows: [tiles][terms][rows of the tile]
  const float* bias;     // may be null
  const float* x;
  const int64_t* offsets;
  int64_t terms;
  float* out;
  int64_t ld_out, rows, columns;
};

/// out[m][j] = the sum over images n and columns p of g[n][m][p] * x[n][offsets[j] + p].
struct ShiftedProducts {
  const float* g;
  int64_t g_step, ld_g;  // from an image, and from a row, to the next
  const float* x;
  int64_t x_step;
  const int64_t* offsets;
  int64_t terms, images;
  float* out;
  int64_t rows, columns;
};

/// `count` elements of an image, RowMoves::stride apart, and their contiguous copies in the shifted
/// rows; `image` and `rows` are the offsets of the first one.
struct RowMove {
  int64_t image, rows, count;
};
struct RowMoves {
  const RowMove* moves;
  int64_t count, stride;
};

/// The maximum number of rows of a tile, and the elements that ShiftedSums may read beyond a row.
inline constexpr int64_t kShiftedRows = 6, kShiftedSlack = 64;
/// The number of tiles of ShiftedSums, and the first row of one of them.
constexpr int64_t shifted_tiles(int64_t rows) { return (rows + kShiftedRows - 1) / kShiftedRows; }
constexpr int64_t first_row(int64_t rows, int64_t tile) {
  return rows * tile / shifted_tiles(rows);
}

/// The inner loops of convolutions with few channels.
struct ConvSmallTable {
  void (*sums)(const ShiftedSums&);
  void (*products)(const ShiftedProducts&);
  /// gather copies elements of the image to the rows; scatter adds elements of the rows to the
  /// image.
  void (*gather)(const RowMoves& moves, const float* image, float* rows);
  void (*scatter)(const RowMoves& moves, const float* rows, float* image);
};

extern const ConvSmallTable conv_small_table_avx2;
extern const ConvSmallTable conv_small_table_avx512;
extern const ConvSmallTable conv_small_table_generic;

}  // namespace hearth::cpu
