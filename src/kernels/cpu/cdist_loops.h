#pragma once

// The inner loops of cdist for one instruction set. A vector holds adjacent elements of a row. A
// row of a is compared with four rows of b at once; the gradient keeps four vectors of sums in
// registers for all rows of b. Bound by a few instructions for each vector of differences, for
// general p by pow(). Included only by cdist_@target@.cpp.in.

#include "kernels/cpu/cdist_kernels.h"
#include "kernels/cpu/math.h"
#include "kernels/cpu/vec.h"

namespace hearth::cpu {

template <class T, class Isa>
struct CdistLoopsOf {
  using V = FullVec<T, Isa>;
  static constexpr int64_t kFull = V::kLanes;
  static constexpr int kRows = 4;   // rows of b that are compared with a at once
  static constexpr int kBlock = 4;  // vectors of the gradient that are summed in registers

  HEARTH_SIMD static V load(const T* from, int64_t n) {
    return n >= kFull ? V::load(from) : V::load_first(from, static_cast<int>(n));
  }

  template <Norm norm>
  HEARTH_SIMD static T total(V sums) {
    alignas(64) T lanes[kFull];
    sums.store(lanes);
    T result = 0;
    for (int64_t l = 0; l < kFull; ++l) {
      if constexpr (norm == Norm::kInfinity)
        result = lanes[l] > result ? lanes[l] : result;
      else
        result += lanes[l];
    }
    return result;
  }

  template <Norm norm, int rows>
  HEARTH_SIMD static void compare(const T* a, const T* b, int64_t width, V p, T* out) {
    V sums[rows];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) sums[r] = V(0);
    int64_t m = 0;
    for (; m + kFull <= width; m += kFull) {
      const V x = V::load(a + m);
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r)
        sums[r] = distance_with_term<norm>(sums[r], x - V::load(b + r * width + m), p);
    }
    if (m < width) {  // differences past the end are 0, and so are their terms
      const int rest = static_cast<int>(width - m);
      const V x = V::load_first(a + m, rest);
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r)
        sums[r] = distance_with_term<norm>(sums[r], x - V::load_first(b + r * width + m, rest), p);
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) out[r] = total<norm>(sums[r]);
  }

  template <Norm norm>
  static void distances(const void* a_data, const void* b_data, int64_t n, int64_t width, double p,
                        void* out_data) {
    const T *a = static_cast<const T*>(a_data), *b = static_cast<const T*>(b_data);
    T* const out = static_cast<T*>(out_data);
    int64_t j = 0;
    for (; j + kRows <= n; j += kRows) compare<norm, kRows>(a, b + j * width, width, V(p), out + j);
    for (; j < n; ++j) compare<norm, 1>(a, b + j * width, width, V(p), out + j);
  }

  /// Computes `vectors` vectors of the gradient from element `begin` on; the last may be partial.
  template <Norm norm, int vectors>
  HEARTH_SIMD static void sum_block(const T* a, const T* b, int64_t n, int64_t width, int64_t begin,
                                    V p, const T* factor, const T* dist, T* out) {
    const int64_t tail = width - begin - (vectors - 1) * kFull;
    V x[vectors], sums[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      x[v] = load(a + begin + v * kFull, v + 1 < vectors ? kFull : tail);
      sums[v] = V(0);
    }
    for (int64_t j = 0; j < n; ++j) {
      if (factor[j] == T(0)) continue;
      const T* const row = b + j * width + begin;
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v)
        sums[v] = sums[v] + distance_derivative<norm>(
                                x[v] - load(row + v * kFull, v + 1 < vectors ? kFull : tail), p,
                                V(factor[j]), V(dist[j]));
    }
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      if (v + 1 < vectors || tail >= kFull)
        sums[v].store(out + begin + v * kFull);
      else
        sums[v].store_first(out + begin + v * kFull, static_cast<int>(tail));
    }
  }

  template <Norm norm>
  static void gradient(const void* a_data, const void* b_data, int64_t n, int64_t width, double p,
                       const void* factor_data, const void* dist_data, void* out_data) {
    const T *a = static_cast<const T*>(a_data), *b = static_cast<const T*>(b_data),
            *factor = static_cast<const T*>(factor_data), *dist = static_cast<const T*>(dist_data);
    T* const out = static_cast<T*>(out_data);
    int64_t begin = 0;
    for (; begin + kBlock * kFull <= width; begin += kBlock * kFull)
      sum_block<norm, kBlock>(a, b, n, width, begin, V(p), factor, dist, out);
    for (; begin < width; begin += kFull)
      sum_block<norm, 1>(a, b, n, width, begin, V(p), factor, dist, out);
  }

  static constexpr CdistLoops loops{
      {&distances<Norm::kZero>, &distances<Norm::kOne>, &distances<Norm::kTwo>,
       &distances<Norm::kInfinity>, &distances<Norm::kOther>},
      {nullptr, &gradient<Norm::kOne>, &gradient<Norm::kTwo>, &gradient<Norm::kInfinity>,
       &gradient<Norm::kOther>}};
};

template <class Isa>
constexpr CdistTable cdist_table_of{CdistLoopsOf<float, Isa>::loops,
                                    CdistLoopsOf<double, Isa>::loops};

}  // namespace hearth::cpu
