#pragma once

// Products with one matrix that many products share and that is packed once. A tile of two vectors
// by up to 12 rows (6 for vectors below 64 bytes) stays in registers. Bound by two multiply-adds
// for each factor; with few rows, by the latency of the sums. Included only by recurrence_loops.h.

#include "kernels/cpu/recurrence_kernels.h"
#include "kernels/cpu/vec.h"

namespace hearth::cpu {

/// out = a @ panel or out += a @ panel, for a panel of kColumns columns. Every element is one sum
/// in the order of its terms, whatever the rows and columns of a call, so that results do not
/// depend on how a product is split.
template <class T, class Isa>
struct PanelProduct {
  using V = FullVec<T, Isa>;
  static constexpr int kVectors = 2;
  static constexpr int kColumns = kVectors * V::kLanes;
  // The sums of a tile, a row of the panel and a factor fit into the registers.
  static constexpr int kRows = Isa::kBytes == 64 ? 12 : 6;

  template <int rows>
  HEARTH_SIMD static void tile(const PanelFactors& f, const T* a, T* out) {
    const T* const panel = static_cast<const T*>(f.panel);
    V sums[rows][kVectors];
#pragma GCC unroll 12
    for (int r = 0; r < rows; ++r) sums[r][0] = sums[r][1] = V(0);
    for (int64_t k = 0; k < f.terms; ++k) {
      const V left = V::load(panel + k * kColumns),
              right = V::load(panel + k * kColumns + V::kLanes);
#pragma GCC unroll 12
      for (int r = 0; r < rows; ++r) {
        const V factor(a[r * f.row_step + k * f.term_step]);
        sums[r][0] = mul_add(factor, left, sums[r][0]);
        sums[r][1] = mul_add(factor, right, sums[r][1]);
      }
    }
#pragma GCC unroll 12
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        T* const to = out + r * f.ld_out + v * V::kLanes;
        const int64_t n = f.out_columns - v * V::kLanes;
        if (n >= V::kLanes)
          (f.add ? V::load(to) + sums[r][v] : sums[r][v]).store(to);
        else if (n > 0)
          (f.add ? V::load_first(to, int(n)) + sums[r][v] : sums[r][v]).store_first(to, int(n));
      }
  }

  /// Computes a tile of `rows` rows, at most `limit`.
  template <int limit>
  HEARTH_SIMD static void tile_of(int64_t rows, const PanelFactors& f, const T* a, T* out) {
    if constexpr (limit > 1)
      if (rows < limit) return tile_of<limit - 1>(rows, f, a, out);
    tile<limit>(f, a, out);
  }

  /// Loads a tile's rows into the cache while their products are computed.
  static void prefetch(const T* out, int64_t rows, int64_t ld) {
    for (int64_t r = 0; r < rows; ++r)
      for (int v = 0; v < kVectors; ++v) __builtin_prefetch(out + r * ld + v * V::kLanes, 1);
  }

  static void multiply(const PanelFactors& factors, int64_t rows) {
    const PanelFactors f = factors;
    const T* a = static_cast<const T*>(f.a);
    T* out = static_cast<T*>(f.out);
    for (int64_t tiles = (rows + kRows - 1) / kRows; tiles > 0; --tiles) {
      const int64_t n = (rows + tiles - 1) / tiles;
      if (f.add) prefetch(out, n, f.ld_out);
      tile_of<kRows>(n, f, a, out);
      a += n * f.row_step;
      out += n * f.ld_out;
      rows -= n;
    }
  }
};

}  // namespace hearth::cpu
