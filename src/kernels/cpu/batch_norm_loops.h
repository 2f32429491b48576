#pragma once

// The inner loops of batch norm for one instruction set: sums of columns in double, four rows at a
// time, and y = (x - center) * slope + offset + g * gain. A vector holds adjacent columns. Bound by
// memory; for rows in the cache, the sums are bound by their arithmetic in double. Included only by
// batch_norm_@target@.cpp.in.

#include "kernels/cpu/batch_norm_kernels.h"
#include "kernels/cpu/vec.h"

namespace hearth::cpu {

template <class T, class Isa>
struct BatchNormLoopsOf {
  static constexpr int kDoubles = Isa::kBytes / 8;
  static constexpr int kFull = Isa::kBytes / int(sizeof(T));

  template <int n>
  HEARTH_SIMD static Vec<double, n, Isa> widen(const T* x) {
    return {__builtin_convertvector((Vec<T, n, Isa>::load(x).v), Native<double, n>), Raw{}};
  }
  /// The values of columns j, j + 1, …, or the single value for all columns.
  template <bool per_column, class V, class S>
  HEARTH_SIMD static V channel(const S* values, int64_t j) {
    return per_column ? V::load(values + j) : V(*values);
  }

  template <bool per_column, bool with_g, int n, int rows>
  HEARTH_SIMD static void add_column(const T* x, const T* g, int64_t stride, int64_t j,
                                     const double* shift, double* sums, double* dots) {
    using Wide = Vec<double, n, Isa>;
    const Wide center = channel<per_column, Wide>(shift, j);
    Wide sum = Wide::load(sums + j), dot = Wide::load(dots + j);
    for (int r = 0; r < rows; ++r) {
      const Wide d = widen<n>(x + r * stride + j) - center;
      Wide factor = d;
      if constexpr (with_g) factor = widen<n>(g + r * stride + j);
      sum = sum + factor;
      dot = dot + factor * d;
    }
    sum.store(sums + j);
    dot.store(dots + j);
  }

  template <bool per_column, bool with_g, int rows>
  HEARTH_SIMD static void add_rows(const T* x, const T* g, int64_t stride, int64_t width,
                                   const double* shift, double* sums, double* dots) {
    int64_t j = 0;
    for (; j + kDoubles <= width; j += kDoubles)
      add_column<per_column, with_g, kDoubles, rows>(x, g, stride, j, shift, sums, dots);
    for (; j < width; ++j)
      add_column<per_column, with_g, 1, rows>(x, g, stride, j, shift, sums, dots);
  }

  template <bool per_column, bool with_g>
  static void accumulate(const void* x_data, const void* g_data, int64_t stride, int64_t rows,
                         int64_t width, const double* shift, double* sums, double* dots) {
    const T* x = static_cast<const T*>(x_data);
    const T* g = static_cast<const T*>(g_data);
    constexpr int kRowsAtOnce = 4;
    int64_t r = 0;
    for (; r + kRowsAtOnce <= rows; r += kRowsAtOnce)
      add_rows<per_column, with_g, kRowsAtOnce>(x + r * stride, with_g ? g + r * stride : g, stride,
                                                width, shift, sums, dots);
    for (; r < rows; ++r)
      add_rows<per_column, with_g, 1>(x + r * stride, with_g ? g + r * stride : g, stride, width,
                                      shift, sums, dots);
  }

  template <class V>
  struct Line {
    V center, slope, offset, gain;
  };
  template <bool per_column, bool with_g, class V>
  HEARTH_SIMD static Line<V> line_at(const BatchNormLine& line, int64_t j) {
    const auto values = [j](const void* coefficients) {
      return channel<per_column, V>(static_cast<const T*>(coefficients), j);
    };
    return {values(line.center), values(line.slope), values(line.offset),
            with_g ? values(line.gain) : V(0)};
  }
  template <bool with_g, class V>
  HEARTH_SIMD static void apply_at(const T* x, const T* g, T* y, const Line<V>& line) {
    V result = (V::load(x) - line.center) * line.slope + line.offset;
    if constexpr (with_g) result = result + V::load(g) * line.gain;
    result.store(y);
  }

  template <bool per_column, bool with_g>
  static void apply(const void* x_data, const void* g_data, void* y_data, int64_t stride,
                    int64_t rows, int64_t width, const BatchNormLine& line) {
    using Full = Vec<T, kFull, Isa>;
    using One = Vec<T, 1, Isa>;
    // Loaded before the loop, because the compiler must assume that y may alias the coefficients.
    const Line<Full> common = line_at<false, with_g, Full>(line, 0);
    for (int64_t r = 0; r < rows; ++r) {
      const T* x = static_cast<const T*>(x_data) + r * stride;
      const T* g = with_g ? static_cast<const T*>(g_data) + r * stride : nullptr;
      T* y = static_cast<T*>(y_data) + r * stride;
      int64_t j = 0;
      for (; j + kFull <= width; j += kFull)
        apply_at<with_g>(x + j, with_g ? g + j : g, y + j,
                         per_column ? line_at<true, with_g, Full>(line, j) : common);
      for (; j < width; ++j)
        apply_at<with_g>(x + j, with_g ? g + j : g, y + j,
                         line_at<per_column, with_g, One>(line, j));
    }
  }

  static constexpr BatchNormLoops loops{
      {{accumulate<false, false>, accumulate<false, true>},
       {accumulate<true, false>, accumulate<true, true>}},
      {{apply<false, false>, apply<false, true>}, {apply<true, false>, apply<true, true>}}};
};

template <class Isa>
inline constexpr BatchNormTable batch_norm_table_of{BatchNormLoopsOf<float, Isa>::loops,
                                                    BatchNormLoopsOf<double, Isa>::loops};

}  // namespace hearth::cpu
