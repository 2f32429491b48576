#pragma once

// The inner loop of max and min along a dimension, across columns, for one instruction set: the
// best elements and row numbers of a vector of adjacent columns are updated with four rows at a
// time. Bound by memory; in the cache, by two comparisons and two selections for each vector.
// Included only by minmax_dim_@target@.cpp.in.

#include "kernels/cpu/math_simple.h"
#include "kernels/cpu/minmax_dim_kernels.h"
#include "kernels/cpu/vec.h"

namespace hearth::cpu {

template <class T, bool largest, class Isa>
struct MinMaxRows {
  using Int = typename LaneTraits<T>::Int;

  /// Returns the lanes where a beats b. NaN beats every number, and nothing beats NaN.
  template <class V>
  HEARTH_SIMD static auto beats(V a, V b) {
    if constexpr (largest)
      return (!(a <= b)) & (!isnan(b));
    else
      return (!(a >= b)) & (!isnan(b));
  }

  /// Updates n columns with rows [first, first + count).
  template <int n, int count>
  HEARTH_SIMD static void update_columns(const T* x, int64_t stride, int64_t first, T* values,
                                         Int* best_rows) {
    using V = Vec<T, n, Isa>;
    using I = Vec<Int, n, Isa>;
    V value = V::load(values);
    I best_row = I::load(best_rows);
    for (int r = 0; r < count; ++r) {
      const V next = V::load(x + r * stride);
      const auto better = beats(next, value);
      value = select(better, next, value);
      // ?: selects lanes; Raw marks its result as a native vector, not a number.
      best_row = {better.v ? I(Int(first + r)).v : best_row.v, Raw{}};
    }
    value.store(values);
    best_row.store(best_rows);
  }

  /// Updates all columns with rows [first, first + count).
  template <int count>
  HEARTH_SIMD static void update_with_rows(const T* x, int64_t stride, int64_t first, int64_t width,
                                           T* values, Int* best_rows) {
    constexpr int kFull = FullVec<T, Isa>::kLanes;
    int64_t j = 0;
    for (; j + kFull <= width; j += kFull)
      update_columns<kFull, count>(x + j, stride, first, values + j, best_rows + j);
    for (; j < width; ++j)
      update_columns<1, count>(x + j, stride, first, values + j, best_rows + j);
  }

  static void run(const void* data, int64_t stride, int64_t rows, int64_t width, void* to_values,
                  void* to_rows) {
    const T* x = static_cast<const T*>(data);
    T* const values = static_cast<T*>(to_values);
    Int* const best_rows = static_cast<Int*>(to_rows);
    __builtin_memcpy(to_values, data, sizeof(T) * static_cast<unsigned long>(width));
    __builtin_memset(to_rows, 0, sizeof(T) * static_cast<unsigned long>(width));
    constexpr int kRowsAtOnce = 4;
    int64_t r = 1;
    for (; r + kRowsAtOnce <= rows; r += kRowsAtOnce)
      update_with_rows<kRowsAtOnce>(x + r * stride, stride, r, width, values, best_rows);
    for (; r < rows; ++r) update_with_rows<1>(x + r * stride, stride, r, width, values, best_rows);
  }
};

template <class Isa>
consteval MinMaxTable make_minmax_dim_table() {
  MinMaxTable table;
  const auto add = [&table]<class T>(ScalarType type, const T*) {
    table.rows[int(type)][false] = MinMaxRows<T, false, Isa>::run;
    table.rows[int(type)][true] = MinMaxRows<T, true, Isa>::run;
  };
  add(kFloat, static_cast<const float*>(nullptr));
  add(kDouble, static_cast<const double*>(nullptr));
  add(kLong, static_cast<const int64_t*>(nullptr));
  add(kBool, static_cast<const uint8_t*>(nullptr));
  return table;
}

}  // namespace hearth::cpu
