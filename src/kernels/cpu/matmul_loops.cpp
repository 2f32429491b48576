// Products of matrices for dtypes, strides and small sizes that do not suit the libraries. The
// threads divide strips of 4 rows of the result; a tile of 4 by 64 sums stays in the L1 cache, and
// compilers vectorise along its rows if those of b are contiguous. Bound by a load and a store of a
// sum for each multiplication.
#include "kernels/cpu/matmul_loops.h"

#include <algorithm>
#include <type_traits>

#include "core/parallel_for.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

/// The type in which T's products are summed. Unsigned for integers, because their sums wrap.
template <class T>
auto accumulator_of() {
  if constexpr (std::is_same_v<T, bool>)
    return uint8_t{};
  else if constexpr (std::is_integral_v<T>)
    return std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>{};
  else if constexpr (sizeof(T) == 2)
    return float{};
  else
    return T{};
}
template <class T>
using Accumulator = decltype(accumulator_of<T>());

/// alpha or beta in the type of T's sums.
template <class T>
Accumulator<T> factor(double value) {
  using A = Accumulator<T>;
  if constexpr (std::is_same_v<T, bool>)
    return value != 0;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<A>(static_cast<int64_t>(value));
  else if constexpr (requires { T{}.real_; })
    return A(static_cast<decltype(A{}.real_)>(value));
  else
    return static_cast<A>(value);
}

template <class T, class A>
A add_product(A sum, A x, A y) {
  if constexpr (std::is_same_v<T, bool>)
    return static_cast<A>(sum | (x & y));
  else
    return sum + x * y;
}

constexpr int64_t kProductRows = 4, kProductColumns = 64;

/// A tile of `rows` by `columns` elements of the product; a, b and out point to its first row and
/// column.
template <class T>
struct ProductTile {
  using A = Accumulator<T>;
  const T* a;
  const T* b;
  T* out;
  int64_t rows, columns, k;
  int64_t a_row_stride, a_column_stride, b_row_stride, b_column_stride, out_row_stride,
      out_column_stride;

  void accumulate(A (&sums)[kProductRows][kProductColumns]) const {
    for (int64_t r = 0; r < rows; ++r) std::fill_n(sums[r], columns, A(0));
    for (int64_t p = 0; p < k; ++p) {
      const T* const row = b + p * b_row_stride;
      for (int64_t r = 0; r < rows; ++r) {
        const A x = static_cast<A>(a[r * a_row_stride + p * a_column_stride]);
        if (b_column_stride == 1)
          for (int64_t j = 0; j < columns; ++j)
            sums[r][j] = add_product<T>(sums[r][j], x, A(row[j]));
        else
          for (int64_t j = 0; j < columns; ++j)
            sums[r][j] = add_product<T>(sums[r][j], x, A(row[j * b_column_stride]));
      }
    }
  }

  void run(double alpha, double beta) const {
    A sums[kProductRows][kProductColumns];
    accumulate(sums);
    const A alpha_factor = factor<T>(alpha), beta_factor = factor<T>(beta);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t j = 0; j < columns; ++j) {
        T& element = out[r * out_row_stride + j * out_column_stride];
        const A product = add_product<T>(A(0), alpha_factor, sums[r][j]);
        element = T(beta == 0 ? product : add_product<T>(product, beta_factor, A(element)));
      }
  }
};

}  // namespace

void multiply_loops(const View& a, const View& b, const View& out, double alpha, double beta) {
  const int64_t m = out.sizes[1], n = out.sizes[2], k = a.sizes[2];
  const int64_t row_tiles = (m + kProductRows - 1) / kProductRows;
  const auto tile_work =
      static_cast<int64_t>(std::min(1e18, double(kProductRows) * double(n) * double(k + 1)));
  const int64_t grain = kMoveGrain / std::max<int64_t>(1, tile_work) + 1;
  with_dtype(out.dtype, [&](auto element) {
    using T = decltype(element);
    parallel_for(0, out.sizes[0] * row_tiles, grain, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) {
        const int64_t batch = t / row_tiles, i = t % row_tiles * kProductRows;
        for (int64_t j = 0; j < n; j += kProductColumns) {
          const ProductTile<T> tile{
              a.as<T>() + batch * a.strides[0] + i * a.strides[1],
              b.as<T>() + batch * b.strides[0] + j * b.strides[2],
              out.as<T>() + batch * out.strides[0] + i * out.strides[1] + j * out.strides[2],
              std::min(kProductRows, m - i),
              std::min(kProductColumns, n - j),
              k,
              a.strides[1],
              a.strides[2],
              b.strides[1],
              b.strides[2],
              out.strides[1],
              out.strides[2]};
          tile.run(alpha, beta);
        }
      }
    });
  });
}

}  // namespace hearth::cpu
