#pragma once

// The inner loops of upsampling for one instruction set. combine() adds weighted rows, with up to
// four vectors of sums in registers; gather() adds weighted elements of one row. Bound by loads:
// for each tap, a vector in combine(), single elements in gather(). Included only by
// upsample_@target@.cpp.in.

#include "kernels/cpu/math.h"
#include "kernels/cpu/upsample_kernels.h"
#include "kernels/cpu/vec.h"

namespace hearth::cpu {

template <class T, class Isa>
struct UpsampleLoopsOf {
  static constexpr int kFull = Isa::kBytes / int(sizeof(T));
  static constexpr int kUnroll = 4;  // vectors of sums in registers

  /// Computes n * unroll elements from kTaps taps, or from `taps` if kTaps is 0.
  template <int n, int unroll, int kTaps>
  HEARTH_SIMD static void combine_at(const void* const* rows, const T* weights, int64_t taps, T* to,
                                     int64_t i) {
    using V = Vec<T, n, Isa>;
    const int64_t count = kTaps > 0 ? kTaps : taps;
    V sums[unroll];
    for (int u = 0; u < unroll; ++u)
      sums[u] = V(weights[0]) * V::load(static_cast<const T*>(rows[0]) + i + u * n);
    for (int64_t k = 1; k < count; ++k)
      for (int u = 0; u < unroll; ++u)
        sums[u] =
            mul_add(V(weights[k]), V::load(static_cast<const T*>(rows[k]) + i + u * n), sums[u]);
    for (int u = 0; u < unroll; ++u) sums[u].store(to + i + u * n);
  }
  template <int kTaps>
  HEARTH_SIMD static void combine_taps(const void* const* rows, const T* weights, int64_t taps,
                                       T* to, int64_t n) {
    int64_t i = 0;
    for (; i + kUnroll * kFull <= n; i += kUnroll * kFull)
      combine_at<kFull, kUnroll, kTaps>(rows, weights, taps, to, i);
    for (; i + kFull <= n; i += kFull) combine_at<kFull, 1, kTaps>(rows, weights, taps, to, i);
    for (; i < n; ++i) combine_at<1, 1, kTaps>(rows, weights, taps, to, i);
  }
  static void combine(const void* const* rows, const void* weights, int64_t taps, void* to,
                      int64_t n) {
    const T* w = static_cast<const T*>(weights);
    switch (taps) {
      case 2: return combine_taps<2>(rows, w, taps, static_cast<T*>(to), n);
      case 4: return combine_taps<4>(rows, w, taps, static_cast<T*>(to), n);
      default: return combine_taps<0>(rows, w, taps, static_cast<T*>(to), n);
    }
  }

  template <int n>
  HEARTH_SIMD static Vec<T, n, Isa> picked(const T* row, const int32_t* index) {
    Vec<T, n, Isa> x;
    for (int l = 0; l < n; ++l) x.v[l] = row[index[l]];
    return x;
  }
  template <int n, int kTaps>
  HEARTH_SIMD static void gather_at(const T* row, const int32_t* index, const T* weights,
                                    int64_t taps, T* to, int64_t size, int64_t i) {
    using V = Vec<T, n, Isa>;
    const int64_t count = kTaps > 0 ? kTaps : taps;
    V sum = V::load(weights + i) * picked<n>(row, index + i);
    for (int64_t k = 1; k < count; ++k)
      sum = mul_add(V::load(weights + k * size + i), picked<n>(row, index + k * size + i), sum);
    sum.store(to + i);
  }
  template <int kTaps>
  HEARTH_SIMD static void gather_taps(const T* row, const int32_t* index, const T* weights,
                                      int64_t taps, T* to, int64_t n) {
    int64_t i = 0;
    for (; i + kFull <= n; i += kFull) gather_at<kFull, kTaps>(row, index, weights, taps, to, n, i);
    for (; i < n; ++i) gather_at<1, kTaps>(row, index, weights, taps, to, n, i);
  }
  static void gather(const void* row, const int32_t* index, const void* weights, int64_t taps,
                     void* to, int64_t n) {
    const T *x = static_cast<const T*>(row), *w = static_cast<const T*>(weights);
    switch (taps) {
      case 2: return gather_taps<2>(x, index, w, taps, static_cast<T*>(to), n);
      case 4: return gather_taps<4>(x, index, w, taps, static_cast<T*>(to), n);
      default: return gather_taps<0>(x, index, w, taps, static_cast<T*>(to), n);
    }
  }

  template <int n>
  HEARTH_SIMD static void quantise_at(T* x, T factor) {
    using V = Vec<T, n, Isa>;
    const V whole = floor(mul_add(V::load(x), V(factor), V(T(0.5))));
    minimum(maximum(whole, V(T(0))), V(T(255))).store(x);
  }
  static void quantise(void* data, int64_t n, double factor) {
    T* const x = static_cast<T*>(data);
    int64_t i = 0;
    for (; i + kFull <= n; i += kFull) quantise_at<kFull>(x + i, T(factor));
    for (; i < n; ++i) quantise_at<1>(x + i, T(factor));
  }

  static constexpr UpsampleLoops loops{combine, gather, quantise};
};

template <class Isa>
inline constexpr UpsampleLoopTable upsample_table_of{UpsampleLoopsOf<float, Isa>::loops,
                                                     UpsampleLoopsOf<double, Isa>::loops};

}  // namespace hearth::cpu
