#pragma once

// The inner loops of row norms for one instruction set: sums over a row in double, in four
// independent chains; sums of columns in double; and results in the type of the elements. Bound by
// memory; in the cache, sums over a row are bound by their arithmetic, the others by loads and
// stores. Included only by row_norm_@target@.cpp.in.

#include "kernels/cpu/row_norm_kernels.h"
#include "kernels/cpu/vec.h"

namespace hearth::cpu {

template <class T, class Isa>
struct RowNormLoopsOf {
  static constexpr int kDoubles = Isa::kBytes / 8;
  static constexpr int kFull = Isa::kBytes / int(sizeof(T));
  static constexpr int kChains = 4;  // independent sums

  template <int n>
  using Wide = Vec<double, n, Isa>;
  template <int n>
  HEARTH_SIMD static Wide<n> widen(const T* x) {
    return {__builtin_convertvector((Vec<T, n, Isa>::load(x).v), Native<double, n>), Raw{}};
  }

  /// Tells a function the number of elements that it computes at once.
  template <int n>
  struct Lanes {};
  /// Adds two sums over n elements to sums[0] and sums[1]; terms(Lanes<k>, j, first, second) adds
  /// the terms of elements [j, j + k) to `first` and `second`, which hold k partial sums each.
  template <class F>
  HEARTH_SIMD static void accumulate(int64_t n, double* sums, F terms) {
    Wide<kDoubles> first[kChains], second[kChains];
    for (int c = 0; c < kChains; ++c) first[c] = second[c] = Wide<kDoubles>(0);
    int64_t j = 0;
    for (; j + kChains * kDoubles <= n; j += kChains * kDoubles)
      for (int c = 0; c < kChains; ++c)
        terms(Lanes<kDoubles>{}, j + c * kDoubles, first[c], second[c]);
    for (; j + kDoubles <= n; j += kDoubles) terms(Lanes<kDoubles>{}, j, first[0], second[0]);
    sums[0] += sum_of((first[0] + first[1]) + (first[2] + first[3]));
    sums[1] += sum_of((second[0] + second[1]) + (second[2] + second[3]));
    Wide<1> last[2] = {0, 0};
    for (; j < n; ++j) terms(Lanes<1>{}, j, last[0], last[1]);
    sums[0] += last[0].v[0];
    sums[1] += last[1].v[0];
  }
  HEARTH_SIMD static double sum_of(Wide<kDoubles> value) {
    alignas(64) double lanes[kDoubles];
    value.store(lanes);
    for (int half = kDoubles / 2; half >= 1; half /= 2)
      for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
    return lanes[0];
  }

  static void moments(const void* data, int64_t n, double shift, double* sums) {
    const T* x = static_cast<const T*>(data);
    accumulate(n, sums, [=]<int k>(Lanes<k>, int64_t j, Wide<k>& sum, Wide<k>& square) {
      const Wide<k> d = widen<k>(x + j) - Wide<k>(shift);
      sum = sum + d;
      square = square + d * d;
    });
  }

  template <bool per_element>
  static void dots(const void* g_data, const void* x_data, int64_t n, double mean,
                   const void* w_data, double* sums) {
    const T *g = static_cast<const T*>(g_data), *x = static_cast<const T*>(x_data),
            *w = static_cast<const T*>(w_data);
    accumulate(n, sums, [=]<int k>(Lanes<k>, int64_t j, Wide<k>& sum, Wide<k>& product) {
      Wide<k> weight{static_cast<double>(*w)};
      if constexpr (per_element) weight = widen<k>(w + j);
      const Wide<k> grad = widen<k>(g + j) * weight;
      sum = sum + grad;
      product = product + grad * (widen<k>(x + j) - Wide<k>(mean));
    });
  }

  /// Calls f(Lanes<width>, j) for the vectors of n elements, then f(Lanes<1>, j) for the remaining
  /// elements.
  template <int width, class F>
  HEARTH_SIMD static void for_each_vector(int64_t n, F f) {
    int64_t j = 0;
    for (; j + width <= n; j += width) f(Lanes<width>{}, j);
    for (; j < n; ++j) f(Lanes<1>{}, j);
  }
  template <bool per_element, class V>
  HEARTH_SIMD static V value_at(const T* values, int64_t j) {
    return per_element ? V::load(values + j) : V(*values);
  }

  template <bool per_element>
  static void normalize(const void* x_data, void* y_data, int64_t n, double mean, double rstd,
                        const void* w_data, const void* b_data) {
    const T *x = static_cast<const T*>(x_data), *w = static_cast<const T*>(w_data),
            *b = static_cast<const T*>(b_data);
    T* y = static_cast<T*>(y_data);
    for_each_vector<kFull>(n, [=]<int k>(Lanes<k>, int64_t j) {
      using V = Vec<T, k, Isa>;
      const V normal = (V::load(x + j) - V(mean)) * V(rstd);
      (normal * value_at<per_element, V>(w, j) + value_at<per_element, V>(b, j)).store(y + j);
    });
  }

  template <bool per_element>
  static void gradient(const void* g_data, const void* x_data, void* d_data, int64_t n,
                       const RowNormLoops::Line& line, const void* w_data) {
    const T *g = static_cast<const T*>(g_data), *x = static_cast<const T*>(x_data),
            *w = static_cast<const T*>(w_data);
    T* d = static_cast<T*>(d_data);
    for_each_vector<kFull>(n, [=]<int k>(Lanes<k>, int64_t j) {
      using V = Vec<T, k, Isa>;
      const V by_grad = V::load(g + j) * value_at<per_element, V>(w, j) * V(line.gain);
      const V by_in = (V::load(x + j) - V(line.mean)) * V(line.slope) + V(line.offset);
      (by_grad + by_in).store(d + j);
    });
  }

  static void columns(const void* g_data, const void* x_data, int64_t n, double mean, double rstd,
                      double* weight_sums, double* bias_sums) {
    const T *g = static_cast<const T*>(g_data), *x = static_cast<const T*>(x_data);
    for_each_vector<kDoubles>(n, [=]<int k>(Lanes<k>, int64_t j) {
      using V = Wide<k>;
      const V grad = widen<k>(g + j), normal = (widen<k>(x + j) - V(mean)) * V(rstd);
      (V::load(weight_sums + j) + grad * normal).store(weight_sums + j);
      (V::load(bias_sums + j) + grad).store(bias_sums + j);
    });
  }

  static constexpr RowNormLoops loops{moments,
                                      {normalize<false>, normalize<true>},
                                      {dots<false>, dots<true>},
                                      {gradient<false>, gradient<true>},
                                      columns};
};

template <class Isa>
inline constexpr RowNormTable row_norm_table_of{RowNormLoopsOf<float, Isa>::loops,
                                                RowNormLoopsOf<double, Isa>::loops};

}  // namespace hearth::cpu
