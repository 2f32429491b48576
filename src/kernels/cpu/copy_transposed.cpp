// Copies of transposed matrices. A block is read in the input's memory order into a buffer, and
// written from it in the output's: every cache line is used completely while it is in the cache,
// whatever the strides. Squares of blocks touch few pages. Bound by memory.
#include "kernels/cpu/copy_transposed.h"

#include <algorithm>
#include <cstring>

#include "core/parallel_for.h"
#include "functors/arithmetic.h"
#include "functors/families.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kSide = 64;               // of a block
constexpr int64_t kSquareSide = 8 * kSide;  // of a square of blocks, which is one task
constexpr int64_t kMinElements = 1 << 12;   // fewer are left to the general pointwise loops

/// The copy `out[i][j] = in[i][j]` of many matrices; out is contiguous along j, in along i. Strides
/// are in elements.
struct Matrices {
  int64_t rows, columns, in_stride, out_stride;
  StridedLoop<2> outer;  // offsets of out and in
};

constexpr int64_t kTileSide = 4;     // the side of a tile that is transposed in registers
constexpr int64_t kTileElement = 4;  // bytes of an element of such a tile

/// Copies a tile: the elements of a row of `from` become a column of `to`. The distances between
/// rows are in bytes.
void transpose_tile(const char* from, int64_t from_stride, char* to, int64_t to_stride) {
  using V = uint32_t __attribute__((vector_size(kTileSide * kTileElement)));
  V rows[kTileSide];
  for (int64_t i = 0; i < kTileSide; ++i) std::memcpy(&rows[i], from + i * from_stride, sizeof(V));
  const V low01 = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5),
          low23 = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5),
          high01 = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7),
          high23 = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
  const V columns[kTileSide] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5),
                                __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                                __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
                                __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
  for (int64_t i = 0; i < kTileSide; ++i) std::memcpy(to + i * to_stride, &columns[i], sizeof(V));
}

/// out[i][j] = buffer[j][i]; the distances between rows are in elements.
template <class T>
void write_block(const T* buffer, int64_t pitch, T* out, int64_t out_stride, int64_t rows,
                 int64_t columns) {
  constexpr bool kHasTiles = sizeof(T) == kTileElement;
  const int64_t tiled_rows = kHasTiles ? rows / kTileSide * kTileSide : 0,
                tiled_columns = kHasTiles ? columns / kTileSide * kTileSide : 0;
  for (int64_t i = 0; i < tiled_rows; i += kTileSide)
    for (int64_t j = 0; j < tiled_columns; j += kTileSide)
      transpose_tile(reinterpret_cast<const char*>(buffer + j * pitch + i), pitch * kTileElement,
                     reinterpret_cast<char*>(out + i * out_stride + j), out_stride * kTileElement);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = i < tiled_rows ? tiled_columns : 0; j < columns; ++j)
      out[i * out_stride + j] = buffer[j * pitch + i];
}

template <class T>
void copy_block(const T* in, T* out, const Matrices& m, int64_t rows, int64_t columns) {
  constexpr int64_t kPitch = kSide + 64 / int64_t(sizeof(T));  // spreads a column over cache sets
  alignas(64) T buffer[kSide * kPitch];
  for (int64_t j = 0; j < columns; ++j)
    std::memcpy(buffer + j * kPitch, in + j * m.in_stride, size_t(rows) * sizeof(T));
  write_block(buffer, kPitch, out, m.out_stride, rows, columns);
}

template <class T>
void copy_square(const T* in, T* out, const Matrices& m, int64_t row, int64_t column) {
  const int64_t row_end = std::min(row + kSquareSide, m.rows),
                column_end = std::min(column + kSquareSide, m.columns);
  for (int64_t i = row; i < row_end; i += kSide)
    for (int64_t j = column; j < column_end; j += kSide)
      copy_block(in + i + j * m.in_stride, out + i * m.out_stride + j, m,
                 std::min(kSide, row_end - i), std::min(kSide, column_end - j));
}

template <class T>
void copy_matrices(const T* in, T* out, const Matrices& m) {
  const int64_t across = (m.columns + kSquareSide - 1) / kSquareSide,
                squares = (m.rows + kSquareSide - 1) / kSquareSide * across,
                elements = std::min(kSquareSide, m.rows) * std::min(kSquareSide, m.columns);
  parallel_for(0, m.outer.numel() * squares, kMoveGrain / elements + 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i)
                   m.outer.walk(i / squares, i / squares + 1, [&](const int64_t* offsets, int64_t) {
                     const int64_t square = i % squares;
                     copy_square(in + offsets[1], out + offsets[0], m,
                                 square / across * kSquareSide, square % across * kSquareSide);
                   });
               });
}

/// The dimension other than the last in which the operand is contiguous; -1 if there is none.
int dense_dim(const Operand& operand, const PointwiseParams& params) {
  for (int d = params.dim - 2; d >= 0; --d)
    if (operand.strides[d] == 1 && params.sizes[d] > 1) return d;
  return -1;
}

bool only_copies(const PointwiseParams& p) {
  const Operand& in = p.in[0];
  return p.functor == fn::number_of<fn::Copy> && p.formula == Formula::kValue && p.inputs == 1 &&
         !in.is_number && in.dtype == p.out.dtype && p.compute == p.out.dtype;
}

}  // namespace

bool copy_transposed(const PointwiseParams& params) {
  const int last = params.dim - 1;
  if (last < 1 || params.numel < kMinElements || !only_copies(params)) return false;
  const Operand &in = params.in[0], &out = params.out;
  // If so, the input must be contiguous along the last dimension.
  const bool rows_are_last = out.strides[last] != 1;
  const int other = dense_dim(rows_are_last ? out : in, params);
  const Operand& along_last = rows_are_last ? in : out;
  if (other < 0 || along_last.strides[last] != 1) return false;
  const int rows = rows_are_last ? last : other, columns = rows_are_last ? other : last;
  Matrices m{params.sizes[rows], params.sizes[columns], in.strides[columns], out.strides[rows], {}};
  if (m.rows < kSide / 4 || m.columns < kSide / 4) return false;
  m.outer.operands = 2;
  for (int d = 0; d < params.dim; ++d) {
    if (d == rows || d == columns) continue;
    m.outer.sizes[m.outer.dim] = params.sizes[d];
    m.outer.strides[0][m.outer.dim] = out.strides[d];
    m.outer.strides[1][m.outer.dim++] = in.strides[d];
  }
  with_element_type(element_size(out.dtype), [&](auto element) {
    using T = decltype(element);
    copy_matrices(static_cast<const T*>(in.address()),
                  static_cast<T*>(const_cast<void*>(out.address())), m);
  });
  return true;
}

}  // namespace hearth::cpu
