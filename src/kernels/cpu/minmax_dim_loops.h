#pragma once

// The inner loops of max and min along a dimension for one target; only minmax_dim_<target>.cpp
// include this.

#include "kernels/cpu/math_simple.h"
#include "kernels/cpu/minmax_dim_kernels.h"
#include "kernels/cpu/vec.h"

namespace hearth::cpu {

template <class T, bool largest, class Isa>
struct MinMaxRows {
  using Int = typename LaneTraits<T>::Int;

  /// The lanes where a beats b: the first NaN beats everything, nothing beats it.
  template <class V>
  HEARTH_SIMD static auto beats(V a, V b) {
    if constexpr (largest)
      return (!(a <= b)) & (!isnan(b));
    else
      return (!(a >= b)) & (!isnan(b));
  }

  /// Takes rows first … first + count - 1 of one vector of columns into account.
  template <int n, int count>
  HEARTH_SIMD static void column(const T* x, int64_t stride, int64_t first, T* values,
                                 Int* places) {
    using V = Vec<T, n, Isa>;
    using I = Vec<Int, n, Isa>;
    V value = V::load(values);
    I place = I::load(places);
    for (int r = 0; r < count; ++r) {
      const V next = V::load(x + r * stride);
      const auto better = beats(next, value);
      value = select(better, next, value);
      place = {better.v ? I(Int(first + r)).v : place.v, Raw{}};
    }
    value.store(values);
    place.store(places);
  }

  template <int count>
  HEARTH_SIMD static void some_rows(const T* x, int64_t stride, int64_t first, int64_t width,
                                    T* values, Int* places) {
    constexpr int kFull = FullVec<T, Isa>::kLanes;
    int64_t j = 0;
    for (; j + kFull <= width; j += kFull)
      column<kFull, count>(x + j, stride, first, values + j, places + j);
    for (; j < width; ++j) column<1, count>(x + j, stride, first, values + j, places + j);
  }

  static void run(const void* data, int64_t stride, int64_t rows, int64_t width, void* to_values,
                  void* to_places) {
    const T* x = static_cast<const T*>(data);
    T* const values = static_cast<T*>(to_values);
    Int* const places = static_cast<Int*>(to_places);
    __builtin_memcpy(to_values, data, sizeof(T) * static_cast<unsigned long>(width));
    __builtin_memset(to_places, 0, sizeof(T) * static_cast<unsigned long>(width));
    constexpr int kAtOnce = 4;
    int64_t r = 1;
    for (; r + kAtOnce <= rows; r += kAtOnce)
      some_rows<kAtOnce>(x + r * stride, stride, r, width, values, places);
    for (; r < rows; ++r) some_rows<1>(x + r * stride, stride, r, width, values, places);
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
