#pragma once

// The inner loops of embedding_bag for one instruction set. Included only by
// embedding_bag_@target@.cpp.in.

#include "kernels/cpu/embedding_bag_kernels.h"
#include "kernels/cpu/vec.h"

namespace hearth::cpu {

template <class T, class Isa>
struct BagLoopsOf {
  using V = FullVec<T, Isa>;
  static constexpr int64_t kFull = V::kLanes;
  static constexpr int kBlock = 8;  // vectors of a row that are summed in registers

  HEARTH_SIMD static V load(const T* from, int64_t n) {
    return n >= kFull ? V::load(from) : V::load_first(from, static_cast<int>(n));
  }
  HEARTH_SIMD static void store(V value, T* to, int64_t n) {
    if (n >= kFull)
      value.store(to);
    else
      value.store_first(to, static_cast<int>(n));
  }

  /// Sums the columns from `begin`: `vectors` vectors, the last of them of `tail` elements.
  template <int vectors, bool scaled>
  HEARTH_SIMD static void sum_block(const void* const* rows, const T* scales, int64_t n,
                                    int64_t begin, int64_t tail, T* out, V factor) {
    V sums[vectors];
    for (int v = 0; v < vectors; ++v) sums[v] = V(0);
    for (int64_t r = 0; r < n; ++r) {
      const T* const row = static_cast<const T*>(rows[r]) + begin;
      for (int v = 0; v < vectors; ++v) {
        const V x = load(row + v * kFull, v + 1 < vectors ? kFull : tail);
        if constexpr (scaled)
          sums[v] = mul_add(x, V(scales[r]), sums[v]);
        else
          sums[v] = sums[v] + x;
      }
    }
    for (int v = 0; v < vectors; ++v)
      store(sums[v] * factor, out + begin + v * kFull, v + 1 < vectors ? kFull : tail);
  }

  template <bool scaled>
  HEARTH_SIMD static void sum_columns(const void* const* rows, const T* scales, int64_t n,
                                      int64_t width, T* out, V factor) {
    int64_t begin = 0;
    for (; begin + kBlock * kFull <= width; begin += kBlock * kFull)
      sum_block<kBlock, scaled>(rows, scales, n, begin, kFull, out, factor);
    const int64_t rest = width - begin, vectors = (rest + kFull - 1) / kFull;
    const int64_t tail = rest - (vectors - 1) * kFull;
    switch (vectors) {
      case 1: return sum_block<1, scaled>(rows, scales, n, begin, tail, out, factor);
      case 2: return sum_block<2, scaled>(rows, scales, n, begin, tail, out, factor);
      case 3: return sum_block<3, scaled>(rows, scales, n, begin, tail, out, factor);
      case 4: return sum_block<4, scaled>(rows, scales, n, begin, tail, out, factor);
      case 5: return sum_block<5, scaled>(rows, scales, n, begin, tail, out, factor);
      case 6: return sum_block<6, scaled>(rows, scales, n, begin, tail, out, factor);
      case 7: return sum_block<7, scaled>(rows, scales, n, begin, tail, out, factor);
      case 8: return sum_block<8, scaled>(rows, scales, n, begin, tail, out, factor);
    }
  }

  static void sum(const void* const* rows, const void* scales, int64_t n, int64_t width, void* out,
                  double factor) {
    if (scales)
      sum_columns<true>(rows, static_cast<const T*>(scales), n, width, static_cast<T*>(out),
                        V(factor));
    else
      sum_columns<false>(rows, nullptr, n, width, static_cast<T*>(out), V(factor));
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

  static constexpr BagLoops table{&sum, &add, &dot};
};

template <class Isa>
constexpr BagTable bag_table_of{BagLoopsOf<float, Isa>::table, BagLoopsOf<double, Isa>::table};

}  // namespace hearth::cpu
