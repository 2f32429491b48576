#pragma once

// Operands, tiles and tasks of attention kernels. A block of 16 x 16 threads computes a square tile
// of scores: a row of the tile is a row of the block's own matrix (query or key), a column is a row
// of the other one. Thread (y, x) has the rows y, y + 16, … and the columns x, x + 16, … Operands
// pass through shared memory, 16 columns or rows at a time. Bound by loads from there: one for each
// one to three multiply-adds.

#include "kernels/cuda/convert.h"
#include "kernels/cuda/launch.h"
#include "seam/attention.h"

namespace hearth::cuda {

inline constexpr int kTileThreads = 16;  // in each direction
static_assert(kTileThreads * kTileThreads == kBlock);
inline constexpr int kTileDepth = 16;  // columns, or rows, that are loaded at once

/// The number of rows, and of columns, of a tile that a thread computes.
template <class T>
inline constexpr int kPerThread = sizeof(Register<T>) == 8 ? 2 : 4;
template <class T>
inline constexpr int kTileSide = kTileThreads* kPerThread<T>;

/// The matrix [rows, width] of one head.
template <class T>
struct HeadMatrix {
  T* data;
  int64_t rows, width, row_stride, column_stride;
  __device__ T& at(int64_t row, int64_t column) const {
    return data[row * row_stride + column * column_stride];
  }
};

/// A 4-D view [batch, heads, rows, width].
template <class T>
struct HeadMatrices {
  T* data = nullptr;
  int64_t rows = 0, width = 0;
  int64_t strides[4] = {};

  HeadMatrices() = default;
  explicit HeadMatrices(const View& view) {
    if (!view.defined()) return;
    data = view.as<T>();
    rows = view.sizes[2];
    width = view.sizes[3];
    std::copy_n(view.strides, 4, strides);
  }
  __device__ HeadMatrix<T> at(int64_t batch, int64_t head) const {
    return {data + batch * strides[0] + head * strides[1], rows, width, strides[2], strides[3]};
  }
};

/// The operands of forward and backward kernels.
template <class T>
struct AttentionInputs {
  using C = Register<T>;
  HeadMatrices<T> query, key, value;
  const char* mask;
  int64_t mask_strides[4];  // bytes
  bool is_float_mask;
  C* logsumexp;
  int64_t batch, heads, heads_per_key_head;
  C scale;
  bool causal;

  explicit AttentionInputs(const AttentionOperands& operands)
      : query(operands.query),
        key(operands.key),
        value(operands.value),
        mask(operands.mask.defined() ? operands.mask.as<const char>() : nullptr),
        is_float_mask(operands.mask.dtype == kFloat),
        logsumexp(operands.logsumexp.as<C>()),
        batch(operands.query.sizes[0]),
        heads(operands.query.sizes[1]),
        heads_per_key_head(heads / operands.key.sizes[1]),
        scale(static_cast<C>(operands.scale)),
        causal(operands.causal) {
    for (int d = 0; mask != nullptr && d < 4; ++d)
      mask_strides[d] = operands.mask.strides[d] * int64_t(element_size(operands.mask.dtype));
  }

  /// Whether the row and the key exist and the row attends to the key.
  __device__ bool is_visible(int64_t row, int64_t col) const {
    return row < query.rows && col < key.rows && !(causal && col > row);
  }
  /// The score of a query row and a visible key, given their dot product.
  __device__ C score(int64_t n, int64_t head, int64_t row, int64_t col, C dot) const {
    if (mask == nullptr) return scale * dot;
    const char* const from = mask + n * mask_strides[0] + head * mask_strides[1] +
                             row * mask_strides[2] + col * mask_strides[3];
    const C added = is_float_mask ? static_cast<C>(*reinterpret_cast<const float*>(from))
                                  : to_register(*reinterpret_cast<const T*>(from));
    return scale * dot + added;
  }
};

/// The shared memory of a block whose result has kColumns columns per thread.
template <class T, int kColumns>
struct AttentionShared {
  using C = Register<T>;
  C weights[kTileSide<T>][kTileSide<T> + 1];
  union {
    C rows[2][kTileSide<T>][kTileDepth + 1];  // of both matrices
    C values[kTileDepth][kTileThreads * kColumns + 1];
  } loaded;
};

__device__ inline int tile_x() { return static_cast<int>(threadIdx.x) % kTileThreads; }
__device__ inline int tile_y() { return static_cast<int>(threadIdx.x) / kTileThreads; }

/// Fills `to`, except its last column, with the elements from (row, column) on; those outside the
/// matrix are 0.
template <class T, class C, int kRows, int kColumns>
__device__ __forceinline__ void load_part(const HeadMatrix<T>& from, int64_t row, int64_t column,
                                          C (&to)[kRows][kColumns]) {
  constexpr int kUsed = kColumns - 1;  // the last column only separates memory banks
  for (int i = static_cast<int>(threadIdx.x); i < kRows * kUsed; i += kBlock) {
    const int r = i / kUsed, c = i % kUsed;
    const bool exists = row + r < from.rows && column + c < from.width;
    to[r][c] = exists ? to_register(from.at(row + r, column + c)) : C(0);
  }
}

/// Computes the dot products of the rows of `own` from own_row on and of `other` from other_row on.
template <class T, int kColumns>
__device__ __forceinline__ void dot_rows(const HeadMatrix<T>& own, int64_t own_row,
                                         const HeadMatrix<T>& other, int64_t other_row,
                                         AttentionShared<T, kColumns>& shared,
                                         Register<T> (&dots)[kPerThread<T>][kPerThread<T>]) {
  constexpr int kP = kPerThread<T>;
  for (auto& line : dots)
    for (auto& dot : line) dot = 0;
  auto& rows = shared.loaded.rows;
  for (int64_t first = 0; first < own.width; first += kTileDepth) {
    __syncthreads();  // the previous contents have been read
    load_part(own, own_row, first, rows[0]);
    load_part(other, other_row, first, rows[1]);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kTileDepth; ++k)
#pragma unroll
      for (int a = 0; a < kP; ++a)
#pragma unroll
        for (int b = 0; b < kP; ++b)
          dots[a][b] +=
              rows[0][tile_y() + a * kTileThreads][k] * rows[1][tile_x() + b * kTileThreads][k];
  }
}

/// sums += shared.weights @ the part of `operand` from (row, column) on.
template <class T, int kColumns>
__device__ __forceinline__ void add_product(const HeadMatrix<T>& operand, int64_t row,
                                            int64_t column, AttentionShared<T, kColumns>& shared,
                                            Register<T> (&sums)[kPerThread<T>][kColumns]) {
  constexpr int kP = kPerThread<T>;
  for (int first = 0; first < kTileSide<T>; first += kTileDepth) {
    __syncthreads();  // the weights are complete, and the previous contents have been read
    load_part(operand, row + first, column, shared.loaded.values);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kTileDepth; ++k)
#pragma unroll
      for (int a = 0; a < kP; ++a) {
        const Register<T> weight = shared.weights[tile_y() + a * kTileThreads][first + k];
#pragma unroll
        for (int u = 0; u < kColumns; ++u)
          sums[a][u] += weight * shared.loaded.values[k][tile_x() + u * kTileThreads];
      }
  }
}

/// Writes the thread's results, sums[a][u] * factor(a), to a tile from (row, column) on.
template <class T, int kColumns, class F>
__device__ __forceinline__ void store_rows(const HeadMatrix<T>& to, int64_t row, int64_t column,
                                           const Register<T> (&sums)[kPerThread<T>][kColumns],
                                           F factor) {
  for (int a = 0; a < kPerThread<T>; ++a)
    for (int u = 0; u < kColumns; ++u) {
      const int64_t r = row + tile_y() + a * kTileThreads, c = column + tile_x() + u * kTileThreads;
      if (r < to.rows && c < to.width) to.at(r, c) = to_element<T>(sums[a][u] * factor(a));
    }
}

/// The tiles of rows of all heads, as the tasks of blocks, and the slices of the result's columns.
template <class T>
struct AttentionTasks {
  int64_t heads, tiles, count;

  AttentionTasks(int64_t batch, int64_t num_heads, int64_t rows)
      : heads(num_heads),
        tiles((rows + kTileSide<T> - 1) / kTileSide<T>),
        count(batch * heads * tiles) {}
  struct Task {
    int64_t batch, head, row;
  };
  __device__ Task at(int64_t i) const {
    const int64_t head = i / tiles;
    return {head / heads, head % heads, i % tiles * kTileSide<T>};
  }
  dim3 grid(int64_t width, int columns) const {
    const int64_t slice = kTileThreads * columns;
    return dim3(grid_of_blocks(count), static_cast<unsigned>((width + slice - 1) / slice));
  }
};

/// Calls f(columns) with the number of a result's columns per thread, a constant: 4, or 8 for wide
/// results that are computed in float.
template <class T, class F>
void with_columns(int64_t width, const F& f) {
  if constexpr (sizeof(Register<T>) == 4)
    if (width > 4 * kTileThreads) return f(std::integral_constant<int, 8>{});
  f(std::integral_constant<int, 4>{});
}

}  // namespace hearth::cuda
