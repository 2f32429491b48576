#pragma once

// The inner loops of convolutions with few channels, for one instruction set. sums() and products()
// keep a tile of sums in registers and are bound by the multiplications. Included only by
// conv_small_@target@.cpp.in.

#include "kernels/cpu/conv_small_kernels.h"
#include "kernels/cpu/vec.h"

namespace hearth::cpu {

template <class Isa>
struct ConvSmallLoops {
  using V = FullVec<float, Isa>;
  static constexpr int64_t kLanes = V::kLanes;
  static constexpr bool kHas32Registers = Isa::kBytes == 64;
  static constexpr int kSumVectors = kHas32Registers ? 4 : 2;
  static constexpr int kProductRows = kHas32Registers ? 6 : 3, kProductTerms = 4;
  static_assert(kSumVectors * kLanes <= kShiftedSlack);

  static void sums(const ShiftedSums& operands) {
    const ShiftedSums s = operands;  // a copy: for the compiler, stores may change `operands`
    const int64_t vectors = (s.columns + kLanes - 1) / kLanes,
                  blocks = (vectors + kSumVectors - 1) / kSumVectors, tiles = shifted_tiles(s.rows);
    for (int64_t b = 0; b < blocks; ++b) {
      const int64_t vector = vectors * b / blocks, end = vectors * (b + 1) / blocks;
      for (int64_t t = 0; t < tiles; ++t) {
        const int64_t row = first_row(s.rows, t), last = first_row(s.rows, t + 1);
        sum_rows<kShiftedRows>(s, row, last - row, vector * kLanes, end - vector);
      }
    }
  }

  static void products(const ShiftedProducts& operands) {
    const ShiftedProducts s = operands;
    for (int64_t term = 0; term < s.terms; term += kProductTerms) {
      const int64_t terms = s.terms - term < kProductTerms ? s.terms - term : kProductTerms;
      for (int64_t row = 0; row < s.rows; row += kProductRows) {
        const int64_t rows = s.rows - row < kProductRows ? s.rows - row : kProductRows;
        product_rows<kProductRows>(s, row, rows, term, terms);
      }
    }
  }

  static void gather(const RowMoves& moves, const float* image, float* rows) {
    for (int64_t k = 0; k < moves.count; ++k) {
      const RowMove move = moves.moves[k];
      const float* const from = image + move.image;
      float* const to = rows + move.rows;
      if (moves.stride == 1)
        move_run<false>(from, to, move.count);
      else
        for (int64_t i = 0; i < move.count; ++i) to[i] = from[i * moves.stride];
    }
  }

  static void scatter(const RowMoves& moves, const float* rows, float* image) {
    for (int64_t k = 0; k < moves.count; ++k) {
      const RowMove move = moves.moves[k];
      const float* const from = rows + move.rows;
      float* const to = image + move.image;
      if (moves.stride == 1)
        move_run<true>(from, to, move.count);
      else
        for (int64_t i = 0; i < move.count; ++i) to[i * moves.stride] += from[i];
    }
  }

 private:
  /// Copies a run or, with `adds`, adds it. Half a vector is moved whole, because a masked store
  /// delays later loads of the same memory.
  template <bool adds>
  HEARTH_SIMD static void move_run(const float* from, float* to, int64_t count) {
    using Half = Vec<float, kLanes / 2, Isa>;
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      const V x = V::load(from + i);
      (adds ? V::load(to + i) + x : x).store(to + i);
    }
    if (i + kLanes / 2 <= count) {
      const Half x = Half::load(from + i);
      (adds ? Half::load(to + i) + x : x).store(to + i);
      i += kLanes / 2;
    }
    const int rest = int(count - i);
    if (rest == 0) return;
    const V x = V::load_first(from + i, rest);
    (adds ? V::load_first(to + i, rest) + x : x).store_first(to + i, rest);
  }

  // A function with a template parameter `limit` calls itself with smaller limits until `limit` is
  // the number of rows, vectors or terms.

  template <int limit>
  HEARTH_SIMD static void sum_rows(const ShiftedSums& s, int64_t row, int64_t rows, int64_t column,
                                   int64_t vectors) {
    if constexpr (limit > 1)
      if (rows < limit) return sum_rows<limit - 1>(s, row, rows, column, vectors);
    sum_vectors<limit, kSumVectors>(s, row, column, vectors);
  }
  template <int rows, int limit>
  HEARTH_SIMD static void sum_vectors(const ShiftedSums& s, int64_t row, int64_t column,
                                      int64_t vectors) {
    if constexpr (limit > 1)
      if (vectors < limit) return sum_vectors<rows, limit - 1>(s, row, column, vectors);
    sum_tile<rows, limit>(s, row, column);
  }

  template <int rows, int vectors>
  HEARTH_SIMD static void sum_tile(const ShiftedSums& s, int64_t row, int64_t column) {
    const float* factors = s.factors + row * s.terms;
    const float* const x = s.x + column;
    V sums[rows][vectors];
#pragma GCC unroll 6
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sums[r][v] = V(s.bias ? s.bias[row + r] : 0.0f);
    for (int64_t j = 0; j < s.terms; ++j, factors += rows) {
      V values[vectors];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) values[v] = V::load(x + s.offsets[j] + v * kLanes);
#pragma GCC unroll 6
      for (int r = 0; r < rows; ++r) {
        const V factor(factors[r]);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) sums[r][v] = mul_add(factor, values[v], sums[r][v]);
      }
    }
#pragma GCC unroll 6
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        float* const to = s.out + (row + r) * s.ld_out + column + v * kLanes;
        const int64_t n = s.columns - column - v * kLanes;
        if (n >= kLanes)
          sums[r][v].store(to);
        else
          sums[r][v].store_first(to, int(n));
      }
  }

  template <int limit>
  HEARTH_SIMD static void product_rows(const ShiftedProducts& s, int64_t row, int64_t rows,
                                       int64_t term, int64_t terms) {
    if constexpr (limit > 1)
      if (rows < limit) return product_rows<limit - 1>(s, row, rows, term, terms);
    product_terms<limit, kProductTerms>(s, row, term, terms);
  }
  template <int rows, int limit>
  HEARTH_SIMD static void product_terms(const ShiftedProducts& s, int64_t row, int64_t term,
                                        int64_t terms) {
    if constexpr (limit > 1)
      if (terms < limit) return product_terms<rows, limit - 1>(s, row, term, terms);
    product_tile<rows, limit>(s, row, term);
  }

  template <int rows, int terms>
  HEARTH_SIMD static void product_tile(const ShiftedProducts& s, int64_t row, int64_t term) {
    V sums[rows][terms];
#pragma GCC unroll 6
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
      for (int t = 0; t < terms; ++t) sums[r][t] = V(0.0f);
    const int64_t whole = s.columns / kLanes * kLanes;
    const int rest = int(s.columns - whole);
    for (int64_t n = 0; n < s.images; ++n) {
      const float* const g = s.g + n * s.g_step + row * s.ld_g;
      const float* const x = s.x + n * s.x_step;
      for (int64_t p = 0; p < whole; p += kLanes)
        add_products(sums, s, g + p, x + p, term, [](const float* from) { return V::load(from); });
      if (rest > 0)
        add_products(sums, s, g + whole, x + whole, term,
                     [rest](const float* from) { return V::load_first(from, rest); });
    }
    for (int r = 0; r < rows; ++r)
      for (int t = 0; t < terms; ++t)
        s.out[(row + r) * s.terms + term + t] = sum_of_lanes(sums[r][t]);
  }

  template <int rows, int terms, class Load>
  HEARTH_SIMD static void add_products(V (&sums)[rows][terms], const ShiftedProducts& s,
                                       const float* g, const float* x, int64_t term, Load load) {
    V left[rows];
#pragma GCC unroll 6
    for (int r = 0; r < rows; ++r) left[r] = load(g + r * s.ld_g);
#pragma GCC unroll 4
    for (int t = 0; t < terms; ++t) {
      const V right = load(x + s.offsets[term + t]);
#pragma GCC unroll 6
      for (int r = 0; r < rows; ++r) sums[r][t] = mul_add(left[r], right, sums[r][t]);
    }
  }

  template <class T, int lanes>
  HEARTH_SIMD static float sum_of_lanes(const Vec<T, lanes, Isa>& value) {
    if constexpr (lanes == 1) {
      return value.v[0];
    } else {
      struct {
        Vec<T, lanes / 2, Isa> low, high;
      } halves;
      __builtin_memcpy(&halves, &value.v, sizeof value.v);
      return sum_of_lanes(halves.low + halves.high);
    }
  }
};

}  // namespace hearth::cpu
