// Cuts the shape of a pointwise kernel into tiles of up to 1024 elements, and copies tiles between
// strided memory and dense buffers. Short rows share a tile; transposed operands get squares of 32
// by 32, whose cache lines fit into the L1 cache. Bound by a load and a store for each element with
// a stride.
#include "kernels/cpu/pointwise_tile.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/copy_bytes16.h"

namespace hearth::cpu {

namespace {

/// The side of a square tile: its cache lines fit into the L1 cache whatever the strides are.
constexpr int64_t kSquare = 32;
/// Rows shorter than this share a tile.
constexpr int64_t kShortRow = kTileElements / 4;
/// A tile's contiguous rows that are longer than this are copied by memcpy.
constexpr int64_t kTinyRow = 4;

/// Returns a dimension in which an operand has stride 1 while its last dimension has a
/// stride other than 0 and 1; -1 if there is none.
int transposed_dim(const PointwiseParams& params) {
  const int last = params.dim - 1;
  const auto dense_elsewhere = [&](const Operand& operand) {
    if (operand.is_number || operand.strides[last] == 0 || operand.strides[last] == 1) return -1;
    for (int d = last - 1; d >= 0; --d)
      if (operand.strides[d] == 1 && params.sizes[d] > 1) return d;
    return -1;
  };
  for (int k = 0; k < params.inputs; ++k)
    if (const int d = dense_elsewhere(params.in[k]); d >= 0) return d;
  return last >= 0 ? dense_elsewhere(params.out) : -1;
}

/// Copies rows x cols elements between a dense buffer and strided memory, in the order of the
/// strided memory.
template <class T, bool to_dense>
void copy_strided(const Tile& tile, std::conditional_t<to_dense, const char*, char*> strided,
                  int64_t row_stride, int64_t col_stride,
                  std::conditional_t<to_dense, T*, const T*> dense) {
  const auto move = [&](int64_t row, int64_t col) {
    auto* at = strided + row * row_stride + col * col_stride;
    if constexpr (to_dense)
      std::memcpy(&dense[row * tile.cols + col], at, sizeof(T));
    else
      std::memcpy(at, &dense[row * tile.cols + col], sizeof(T));
  };
  if (tile.rows > 1 && row_stride == int64_t(sizeof(T))) {
    for (int64_t col = 0; col < tile.cols; ++col)
      for (int64_t row = 0; row < tile.rows; ++row) move(row, col);
  } else {
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t col = 0; col < tile.cols; ++col) move(row, col);
  }
}

/// Calls f with a null pointer to a type of `size` bytes.
template <class F>
void with_size(int64_t size, const F& f) {
  switch (size) {
    case 1: return f(static_cast<uint8_t*>(nullptr));
    case 2: return f(static_cast<uint16_t*>(nullptr));
    case 4: return f(static_cast<uint32_t*>(nullptr));
    case 8: return f(static_cast<uint64_t*>(nullptr));
    default: return f(static_cast<Bytes16*>(nullptr));
  }
}

}  // namespace

Tiling::Tiling(const PointwiseParams& params, int64_t max_elements)
    : dims(std::max<int>(params.dim, 1)) {
  sizes[0] = 1;
  std::copy_n(params.sizes, params.dim, sizes);
  const int64_t length = sizes[dims - 1];
  const int transposed = params.dim > 1 ? transposed_dim(params) : -1;
  cols = std::min(length, max_elements);
  if (transposed >= 0) {
    row_dim = transposed;
    cols = std::min(length, kSquare);
  } else if (length < kShortRow && dims > 1) {
    row_dim = dims - 2;
  }
  if (row_dim >= 0)
    rows = std::min(sizes[row_dim],
                    transposed >= 0 && length >= kSquare ? kSquare : max_elements / cols);
  rows = std::max<int64_t>(std::min(rows, max_elements / cols), 1);
  count = 1;
  for (int d = 0; d < dims; ++d) {
    const int64_t step = d == dims - 1 ? cols : d == row_dim ? rows : 1;
    count *= (sizes[d] + step - 1) / step;
  }
}

Tile::Tile(const Tiling& tiling, int64_t index) : rows(1) {
  for (int d = tiling.dims - 1; d >= 0; --d) {
    const bool is_last = d == tiling.dims - 1;
    const int64_t step = is_last ? tiling.cols : d == tiling.row_dim ? tiling.rows : 1;
    const int64_t steps = step == 1 ? tiling.sizes[d] : (tiling.sizes[d] + step - 1) / step;
    const int64_t outer = d == 0 ? 0 : index / steps;
    start[d] = (index - outer * steps) * step;
    index = outer;
    const int64_t extent = std::min(step, tiling.sizes[d] - start[d]);
    if (is_last) cols = extent;
    if (d == tiling.row_dim) rows = extent;
  }
}

TileView::TileView(const Operand& operand, const Tiling& tiling, const Tile& tile)
    : data(static_cast<char*>(const_cast<void*>(operand.address()))), row_stride(0), col_stride(0) {
  if (operand.is_number) return;
  const auto size = static_cast<int64_t>(element_size(operand.dtype));
  for (int d = 0; d < tiling.dims; ++d)
    if (tiling.sizes[d] != 1) data += tile.start[d] * operand.strides[d] * size;
  if (tiling.row_dim >= 0) row_stride = operand.strides[tiling.row_dim] * size;
  if (tiling.sizes[tiling.dims - 1] != 1) col_stride = operand.strides[tiling.dims - 1] * size;
}

void gather(const Tile& tile, const TileView& from, int64_t size, void* to) {
  if (from.col_stride == size && tile.cols > kTinyRow) {
    for (int64_t row = 0; row < tile.rows; ++row)
      std::memcpy(static_cast<char*>(to) + row * tile.cols * size,
                  from.data + row * from.row_stride, static_cast<size_t>(tile.cols * size));
    return;
  }
  with_size(size, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    copy_strided<T, true>(tile, from.data, from.row_stride, from.col_stride, static_cast<T*>(to));
  });
}

void scatter(const Tile& tile, const void* from, int64_t size, const TileView& to) {
  if (to.col_stride == size && tile.cols > kTinyRow) {
    for (int64_t row = 0; row < tile.rows; ++row)
      std::memcpy(to.data + row * to.row_stride,
                  static_cast<const char*>(from) + row * tile.cols * size,
                  static_cast<size_t>(tile.cols * size));
    return;
  }
  with_size(size, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    copy_strided<T, false>(tile, to.data, to.row_stride, to.col_stride,
                           static_cast<const T*>(from));
  });
}

void fill(void* to, const void* element, int64_t size, int64_t n) {
  const auto* const bytes = static_cast<const unsigned char*>(element);
  if (std::all_of(bytes, bytes + size, [&](unsigned char byte) { return byte == bytes[0]; })) {
    std::memset(to, bytes[0], static_cast<size_t>(size * n));
    return;
  }
  with_size(size, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    constexpr int64_t kStep = std::max<int64_t>(64 / sizeof(T), 1);  // stored from registers
    T values[kStep];
    for (T& value : values) std::memcpy(&value, element, sizeof(T));
    T* const begin = static_cast<T*>(to);
    int64_t i = 0;
    for (; i + kStep <= n; i += kStep) std::memcpy(begin + i, values, sizeof values);
    std::copy_n(values, n - i, begin + i);
  });
}

}  // namespace hearth::cpu
