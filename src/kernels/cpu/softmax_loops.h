#pragma once

// The inner loops of softmax and attention for one instruction set, over elements of one line, with
// four independent chains of sums, or of adjacent lines side by side. exp_sum() and the gradient of
// log_softmax are bound by exp, the others by loads and stores. Included only by
// softmax_@target@.cpp.in.

#include "kernels/cpu/math.h"
#include "kernels/cpu/softmax_kernels.h"
#include "kernels/cpu/vec.h"

namespace hearth::cpu {

template <class T, class Isa>
struct SoftmaxLoopsOf {
  using V = FullVec<T, Isa>;
  static constexpr int kFull = V::kLanes;
  static constexpr int kChains = 4;  // independent sums of one line

  HEARTH_SIMD static V load(const T* from, int64_t n) {
    return n >= kFull ? V::load(from) : V::load_first(from, static_cast<int>(n));
  }
  HEARTH_SIMD static void store(V value, T* to, int64_t n) {
    if (n >= kFull)
      value.store(to);
    else
      value.store_first(to, static_cast<int>(n));
  }
  template <bool per_column>
  HEARTH_SIMD static V value_at(const T* values, int64_t j, int64_t n) {
    return per_column ? load(values + j, n - j) : V(*values);
  }
  /// The sum of the first n lanes.
  HEARTH_SIMD static T sum_of(V value, int64_t n) {
    alignas(64) T lanes[kFull];
    value.store(lanes);
    T sum = 0;
    for (int64_t l = 0; l < kFull && l < n; ++l) sum += lanes[l];
    return sum;
  }

  /// Adds the vectors step(j, rest) to the line's sum or, if per_column, to the sum of each column.
  /// step() computes the terms from element j on; the first `rest` lanes are used.
  template <bool per_column, class F>
  HEARTH_SIMD static void accumulate(int64_t n, T* sums, F step) {
    int64_t j = 0;
    if constexpr (per_column) {
      for (; j < n; j += kFull) store(load(sums + j, n - j) + step(j, n - j), sums + j, n - j);
    } else {
      V chains[kChains];
#pragma GCC unroll 4
      for (int c = 0; c < kChains; ++c) chains[c] = V(0);
      for (; j + kChains * kFull <= n; j += kChains * kFull)
#pragma GCC unroll 4
        for (int c = 0; c < kChains; ++c)
          chains[c] = chains[c] + step(j + c * kFull, int64_t(kFull));
      for (; j + kFull <= n; j += kFull) chains[0] = chains[0] + step(j, int64_t(kFull));
      T sum = sum_of((chains[0] + chains[1]) + (chains[2] + chains[3]), kFull);
      if (j < n) sum += sum_of(step(j, n - j), n - j);
      *sums += sum;
    }
  }

  template <bool per_column>
  static void max(const void* x_data, int64_t n, void* m_data) {
    const T* x = static_cast<const T*>(x_data);
    T* m = static_cast<T*>(m_data);
    int64_t j = 0;
    if constexpr (per_column) {
      for (; j < n; j += kFull) store(larger(load(m + j, n - j), load(x + j, n - j)), m + j, n - j);
      return;
    }
    V chains[kChains];
#pragma GCC unroll 4
    for (int c = 0; c < kChains; ++c) chains[c] = V(*m);
    for (; j + kChains * kFull <= n; j += kChains * kFull)
#pragma GCC unroll 4
      for (int c = 0; c < kChains; ++c) chains[c] = larger(chains[c], V::load(x + j + c * kFull));
    for (; j + kFull <= n; j += kFull) chains[0] = larger(chains[0], V::load(x + j));
    alignas(64) T lanes[kFull];
    larger(larger(chains[0], chains[1]), larger(chains[2], chains[3])).store(lanes);
    for (int l = 0; l < kFull; ++l) *m = lanes[l] > *m ? lanes[l] : *m;
    for (; j < n; ++j) *m = x[j] > *m ? x[j] : *m;
  }

  template <bool per_column>
  static void exp_sum(const void* x_data, void* y_data, int64_t n, const void* m_data,
                      void* s_data) {
    const T *x = static_cast<const T*>(x_data), *m = static_cast<const T*>(m_data);
    T* y = static_cast<T*>(y_data);
    accumulate<per_column>(n, static_cast<T*>(s_data), [=](int64_t j, int64_t rest) {
      const V e = exp(load(x + j, rest) - value_at<per_column>(m, j, n));
      if (y) store(e, y + j, rest);
      return e;
    });
  }

  static void add(const void* x_data, void* y_data, int64_t n) {
    const T* x = static_cast<const T*>(x_data);
    T* y = static_cast<T*>(y_data);
    for (int64_t j = 0; j < n; j += kFull)
      store(load(y + j, n - j) + load(x + j, n - j), y + j, n - j);
  }

  template <bool per_column>
  static void scale(const void* x_data, void* y_data, int64_t n, const void* f_data) {
    const T *x = static_cast<const T*>(x_data), *f = static_cast<const T*>(f_data);
    T* y = static_cast<T*>(y_data);
    for (int64_t j = 0; j < n; j += kFull)
      store(load(x + j, n - j) * value_at<per_column>(f, j, n), y + j, n - j);
  }

  /// All bits set in the lanes of the first n values that are true.
  HEARTH_SIMD static typename V::M load_mask(const bool* from, int64_t n) {
    Native<int8_t, kFull> bytes{};
    __builtin_memcpy(&bytes, from, n >= kFull ? kFull : static_cast<int>(n));
    return {__builtin_convertvector(bytes, Native<typename V::Int::Lane, kFull>) != 0};
  }
  static void drop(const bool* kept, void* y_data, int64_t n, const void* f_data) {
    T* y = static_cast<T*>(y_data);
    const V factor(*static_cast<const T*>(f_data));
    int64_t j = 0;
    for (; j + kFull <= n; j += kFull)
      (V::load(y + j) * select(load_mask(kept + j, kFull), factor, V(0))).store(y + j);
    if (j < n)
      store(load(y + j, n - j) * select(load_mask(kept + j, n - j), factor, V(0)), y + j, n - j);
  }

  template <bool per_column>
  static void shift(const void* x_data, void* y_data, int64_t n, const void* m_data,
                    const void* s_data) {
    const T *x = static_cast<const T*>(x_data), *m = static_cast<const T*>(m_data),
            *s = static_cast<const T*>(s_data);
    T* y = static_cast<T*>(y_data);
    for (int64_t j = 0; j < n; j += kFull)
      store(load(x + j, n - j) - value_at<per_column>(m, j, n) - value_at<per_column>(s, j, n),
            y + j, n - j);
  }

  template <bool per_column, bool log>
  static void dot(const void* g_data, const void* y_data, int64_t n, void* s_data) {
    const T *g = static_cast<const T*>(g_data), *y = static_cast<const T*>(y_data);
    accumulate<per_column>(n, static_cast<T*>(s_data), [=](int64_t j, int64_t rest) {
      const V value = load(g + j, rest);
      return log ? value : value * load(y + j, rest);
    });
  }

  template <bool per_column, bool log>
  static void gradient(const void* g_data, const void* y_data, void* d_data, int64_t n,
                       const void* s_data) {
    const T *g = static_cast<const T*>(g_data), *y = static_cast<const T*>(y_data),
            *s = static_cast<const T*>(s_data);
    T* d = static_cast<T*>(d_data);
    for (int64_t j = 0; j < n; j += kFull) {
      const V sum = value_at<per_column>(s, j, n), grad = load(g + j, n - j),
              out = load(y + j, n - j);
      V result;
      if constexpr (log)
        result = grad - exp(out) * sum;
      else
        result = out * (grad - sum);
      store(result, d + j, n - j);
    }
  }

  static constexpr SoftmaxLoops loops{
      {max<false>, max<true>},
      {exp_sum<false>, exp_sum<true>},
      add,
      {scale<false>, scale<true>},
      drop,
      {shift<false>, shift<true>},
      {{dot<false, false>, dot<false, true>}, {dot<true, false>, dot<true, true>}},
      {{gradient<false, false>, gradient<false, true>},
       {gradient<true, false>, gradient<true, true>}}};
};

template <class Isa>
inline constexpr SoftmaxTable softmax_table_of{SoftmaxLoopsOf<float, Isa>::loops,
                                               SoftmaxLoopsOf<double, Isa>::loops};

}  // namespace hearth::cpu
