#pragma once

// The inner loops of embedding_bag for one instruction set. Up to 16 vectors of a row's columns are
// summed in registers over the rows of a bag; sum_at_indices() prefetches the row of the index 16
// steps ahead. Bound by the cache misses of the rows: one addition for each vector that is loaded.
// Included only by embedding_bag_@target@.cpp.in.

#include "kernels/cpu/embedding_bag_kernels.h"
#include "kernels/cpu/vec.h"

namespace hearth::cpu {

template <class T, class Isa>
struct BagLoopsOf {
  using V = FullVec<T, Isa>;
  static constexpr int64_t kFull = V::kLanes;

  HEARTH_SIMD static V load(const T* from, int64_t n) {
    return n >= kFull ? V::load(from) : V::load_first(from, static_cast<int>(n));
  }
  HEARTH_SIMD static void store(V value, T* to, int64_t n) {
    if (n >= kFull)
      value.store(to);
    else
      value.store_first(to, static_cast<int>(n));
  }

  /// The rows to be summed, by their addresses, with scales. The structs below have the same
  /// functions: row() returns row r, term() adds a vector x of it to a sum, fetch() may prefetch a
  /// later row.
  struct Pointers {
    const void* const* rows;
    const T* scales;
    static constexpr int kBlock = 8;  // vectors of a row that are summed in registers
    HEARTH_SIMD const T* row(int64_t r) const { return static_cast<const T*>(rows[r]); }
    HEARTH_SIMD V term(V x, V sum, int64_t r) const { return mul_add(x, V(scales[r]), sum); }
    HEARTH_SIMD void fetch(int64_t, int64_t, int64_t) const {}
  };
  struct Unscaled : Pointers {
    HEARTH_SIMD V term(V x, V sum, int64_t) const { return sum + x; }
  };
  struct Indexed {
    const char* table;
    int64_t stride;
    const int64_t* indices;
    int64_t count;  // of indices, including those after the bag
    static constexpr int kBlock = 16;
    static constexpr int64_t kRowsAhead = 16, kCacheLine = 64;
    HEARTH_SIMD void fetch(int64_t r, int64_t begin, int64_t n) const {
      if (r + kRowsAhead >= count) return;
      const char* const row = table + indices[r + kRowsAhead] * stride;
      // Into the second level of the cache, which can wait for more lines than the first: the sums
      // take a fifth less time.
#pragma GCC unroll 8
      for (int64_t byte = 0; byte < n * int64_t(sizeof(T)); byte += kCacheLine)
        __builtin_prefetch(row + begin * int64_t(sizeof(T)) + byte, 0, 2);
    }
    HEARTH_SIMD const T* row(int64_t r) const {
      return reinterpret_cast<const T*>(table + indices[r] * stride);
    }
    HEARTH_SIMD V term(V x, V sum, int64_t) const { return sum + x; }
  };

  /// Sums the columns from `begin`: `vectors` vectors, the last of them of `tail` elements.
  template <int vectors, class Rows>
  HEARTH_SIMD static void sum_block(const Rows& rows, int64_t n, int64_t begin, int64_t tail,
                                    T* out, V factor) {
    V sums[vectors];
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v) sums[v] = V(0);
    for (int64_t r = 0; r < n; ++r) {
      const T* const row = rows.row(r) + begin;
      rows.fetch(r, begin, vectors * kFull);
#pragma GCC unroll 16
      for (int v = 0; v < vectors; ++v)
        sums[v] = rows.term(load(row + v * kFull, v + 1 < vectors ? kFull : tail), sums[v], r);
    }
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v)
      store(sums[v] * factor, out + begin + v * kFull, v + 1 < vectors ? kFull : tail);
  }

  template <class Rows>
  HEARTH_SIMD static void sum_columns(const Rows& rows, int64_t n, int64_t width, T* out,
                                      V factor) {
    int64_t begin = 0;
    for (; begin + Rows::kBlock * kFull <= width; begin += Rows::kBlock * kFull)
      sum_block<Rows::kBlock>(rows, n, begin, kFull, out, factor);
    for (; begin + 8 * kFull <= width; begin += 8 * kFull)
      sum_block<8>(rows, n, begin, kFull, out, factor);
    for (; begin + 4 * kFull <= width; begin += 4 * kFull)
      sum_block<4>(rows, n, begin, kFull, out, factor);
    for (; begin < width; begin += kFull) sum_block<1>(rows, n, begin, width - begin, out, factor);
  }

  static void sum_rows(const void* const* rows, const void* scales, int64_t n, int64_t width,
                       void* out, double factor) {
    const Pointers pointers{rows, static_cast<const T*>(scales)};
    if (scales)
      sum_columns(pointers, n, width, static_cast<T*>(out), V(factor));
    else
      sum_columns(Unscaled{pointers}, n, width, static_cast<T*>(out), V(factor));
  }
  static void sum_at_indices(const void* table, int64_t stride, const int64_t* indices, int64_t n,
                             int64_t num_next, int64_t width, void* out, double factor) {
    sum_columns(Indexed{static_cast<const char*>(table), stride, indices, n + num_next}, n, width,
                static_cast<T*>(out), V(factor));
  }

  static void add(const void* x_data, void* y_data, int64_t n, double factor) {
    const T* x = static_cast<const T*>(x_data);
    T* y = static_cast<T*>(y_data);
    for (int64_t j = 0; j < n; j += kFull)
      store(mul_add(load(x + j, n - j), V(factor), load(y + j, n - j)), y + j, n - j);
  }

  static double dot(const void* x_data, const void* y_data, int64_t n) {
    const T *x = static_cast<const T*>(x_data), *y = static_cast<const T*>(y_data);
    V sums[2] = {V(0), V(0)};
    for (int64_t j = 0, k = 0; j < n; j += kFull, k ^= 1)
      sums[k] = mul_add(load(x + j, n - j), load(y + j, n - j), sums[k]);
    alignas(64) T lanes[kFull];
    (sums[0] + sums[1]).store(lanes);
    double total = 0;
    for (int64_t l = 0; l < kFull; ++l) total += static_cast<double>(lanes[l]);
    return total;
  }

  static constexpr BagLoops loops{&sum_rows, &sum_at_indices, &add, &dot};
};

template <class Isa>
constexpr BagTable bag_table_of{BagLoopsOf<float, Isa>::loops, BagLoopsOf<double, Isa>::loops};

}  // namespace hearth::cpu
