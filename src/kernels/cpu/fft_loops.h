#pragma once

// The loops before and after the stages of a Fourier transform, for one instruction set: they load
// and store lines, multiply by factors, and convert between real lines and half spectra. A lane has
// a line of its own; lines that lie side by side or without gaps are loaded by vectors, others by
// elements. Bound by loads and stores. Included only by fft_@target@.cpp.in.

#include "kernels/cpu/fft_butterfly.h"
#include "kernels/cpu/fft_kernels.h"
#include "kernels/cpu/fft_shuffle.h"
#include "kernels/cpu/vec.h"

namespace hearth::cpu {

template <class V>
struct FftLoopsOf {
  using T = typename V::Lane;
  using Number = FftNumber<V>;
  using Shuffle = FftShuffle<V>;
  static constexpr int kLanes = V::kLanes;
  static constexpr int64_t kNumber = 2 * kLanes;
  static constexpr int kUnit = kLanes / 2;  // pairs in a vector

  HEARTH_SIMD static Number get(const T* buffer, int64_t i) {
    return Number::load(buffer + i * kNumber);
  }
  HEARTH_SIMD static void put(T* buffer, int64_t i, Number x) { x.store(buffer + i * kNumber); }

  /// Whether the lanes' numbers, `width` values each, lie side by side.
  HEARTH_SIMD static bool adjacent(const FftLines<T>& lines, int64_t width) {
    return kLanes > 1 && lines.count == kLanes && lines.apart == width;
  }
  HEARTH_SIMD static Number arranged(Number x, const FftPairs<T>& pairs) {
    const Number scaled{x.re * V(pairs.first), x.im * V(pairs.second)};
    return pairs.swap ? scaled.swapped() : scaled;
  }

  static void load(const FftLines<T>& lines, int64_t n, const int64_t* slots,
                   const FftPairs<T>& pairs, T* buffer) {
    const T* const start = lines.data + lines.offsets[0];
    int64_t i = 0;
    if constexpr (kLanes > 1) {
      if (adjacent(lines, 2) && lines.pair == 1) {
        for (; i < n; ++i)
          put(buffer, slots[i], arranged(Shuffle::parted(start + i * lines.step), pairs));
      } else if (adjacent(lines, 1)) {
        for (; i < n; ++i) {
          const T* const at = start + i * lines.step;
          put(buffer, slots[i],
              arranged({V::load(at), lines.has_second() ? V::load(at + lines.pair) : V(0)}, pairs));
        }
      } else if (lines.step == 2 && lines.pair == 1) {
        for (; i + kUnit <= n; i += kUnit) load_along(lines, i, slots, pairs, buffer);
      }
    }
    for (; i < n; ++i) {
      T* const to = buffer + slots[i] * kNumber;
      for (int l = 0; l < kLanes; ++l) {
        const T* const at = lines.data + lines.offsets[l] + i * lines.step;
        const T first = at[0] * pairs.first;
        const T second = lines.has_second() ? at[lines.pair] * pairs.second : T(0);
        to[l] = pairs.swap ? second : first;
        to[l + kLanes] = pairs.swap ? first : second;
      }
    }
  }
  /// Loads pairs [i, i + kUnit) of lines without gaps: a vector of each line, transposed.
  HEARTH_SIMD static void load_along(const FftLines<T>& lines, int64_t i, const int64_t* slots,
                                     const FftPairs<T>& pairs, T* buffer) {
    V low[kUnit], high[kUnit];
#pragma GCC unroll 8
    for (int l = 0; l < kUnit; ++l) {
      low[l] = V::load(lines.data + lines.offsets[l] + 2 * i);
      high[l] = V::load(lines.data + lines.offsets[kUnit + l] + 2 * i);
    }
    Shuffle::transpose(low);
    Shuffle::transpose(high);
#pragma GCC unroll 8
    for (int j = 0; j < kUnit; ++j)
      put(buffer, slots[i + j], arranged(Shuffle::parted(low[j], high[j]), pairs));
  }

  static void store(const T* buffer, int64_t n, const FftPairs<T>& pairs,
                    const FftLines<T>& lines) {
    T* const start = lines.data + lines.offsets[0];
    int64_t i = 0;
    if constexpr (kLanes > 1) {
      if (adjacent(lines, 2) && lines.pair == 1) {
        for (; i < n; ++i) Shuffle::mix(written(buffer, i, pairs), start + i * lines.step);
      } else if (adjacent(lines, 1)) {
        for (; i < n; ++i) {
          const Number x = written(buffer, i, pairs);
          x.re.store(start + i * lines.step);
          if (lines.has_second()) x.im.store(start + i * lines.step + lines.pair);
        }
      } else if (lines.step == 2 && lines.pair == 1) {
        for (; i + kUnit <= n; i += kUnit) store_along(buffer, i, pairs, lines);
      }
    }
    const int first = pairs.swap ? kLanes : 0;
    for (; i < n; ++i) {
      const T* const from = buffer + i * kNumber;
      for (int l = 0; l < lines.count; ++l) {
        T* const to = lines.data + lines.offsets[l] + i * lines.step;
        to[0] = from[l + first] * pairs.first;
        if (lines.has_second()) to[lines.pair] = from[l + kLanes - first] * pairs.second;
      }
    }
  }
  HEARTH_SIMD static Number written(const T* buffer, int64_t i, const FftPairs<T>& pairs) {
    const Number x = pairs.swap ? get(buffer, i).swapped() : get(buffer, i);
    return {x.re * V(pairs.first), x.im * V(pairs.second)};
  }
  HEARTH_SIMD static void store_along(const T* buffer, int64_t i, const FftPairs<T>& pairs,
                                      const FftLines<T>& lines) {
    V low[kUnit], high[kUnit];
#pragma GCC unroll 8
    for (int j = 0; j < kUnit; ++j) Shuffle::mix(written(buffer, i + j, pairs), low[j], high[j]);
    Shuffle::transpose(low);
    Shuffle::transpose(high);
#pragma GCC unroll 16
    for (int l = 0; l < kLanes; ++l) {
      const V& line = l < kUnit ? low[l] : high[l - kUnit];
      if (l < lines.count) line.store(lines.data + lines.offsets[l] + 2 * i);
    }
  }

  static void multiply(const T* in, int64_t n, const T* factors, const int64_t* slots, bool swap_in,
                       bool swap_out, T* out) {
    for (int64_t i = 0; i < n; ++i) {
      const Number x = swap_in ? get(in, i).swapped() : get(in, i);
      const Number product = x.times(factors + 2 * i);
      put(out, slots[i], swap_out ? product.swapped() : product);
    }
  }
  static void clear(int64_t n, const int64_t* slots, T* out) {
    for (int64_t i = 0; i < n; ++i) put(out, slots[i], {V(0), V(0)});
  }
  static void rotate(const T* table, int64_t row, int64_t n, T* buffer) {
    for (int64_t k = 0; k < n; ++k) {
      const Number factor = Shuffle::parted(table + k * row);
      put(buffer, k, get(buffer, k).times(factor.re, factor.im));
    }
  }
  static void weigh(T weight, int64_t first, int64_t end, T* buffer) {
    for (int64_t i = first; i < end; ++i) {
      const Number x = get(buffer, i);
      put(buffer, i, {x.re * V(weight), x.im * V(weight)});
    }
  }

  /// z is the transform of the pairs; E and O are the transforms of the even and the odd numbers.
  /// E[k] = (z[k] + conj(z[-k])) / 2 and O[k] = (z[k] - conj(z[-k])) / 2i; out[k] = E + twiddle *
  /// O.
  static void split_pairs(const T* twiddles, int64_t half, T* buffer) {
    const Number z = get(buffer, 0);
    put(buffer, 0, {z.re + z.im, V(0)});
    put(buffer, half, {z.re - z.im, V(0)});
    const V one_half(0.5);
    for (int64_t k = 1; k <= half - k; ++k) {
      const Number a = get(buffer, k), b = get(buffer, half - k).conj();
      const Number sum = a + b, turned = (a - b).turned().times(twiddles + 2 * k);
      const Number front = sum + turned, back = (sum - turned).conj();
      put(buffer, k, {front.re * one_half, front.im * one_half});
      put(buffer, half - k, {back.re * one_half, back.im * one_half});
    }
  }
  static void join_pairs(const T* in, const T* twiddles, int64_t half, const int64_t* slots,
                         T* out) {
    const V first = get(in, 0).re, last = get(in, half).re;
    put(out, slots[0], {first - last, first + last});
    for (int64_t k = 1; k <= half - k; ++k) {
      const Number a = get(in, k), b = get(in, half - k).conj();
      const V cosine(twiddles[2 * k]), sine(twiddles[2 * k + 1]);
      const Number sum = a + b, turned = (a - b).times(cosine, -sine).turned();
      put(out, slots[k], (sum - turned).swapped());
      put(out, slots[half - k], (sum + turned).conj().swapped());
    }
  }
  static void unfold(const T* in, int64_t n, const int64_t* slots, T* out) {
    put(out, slots[0], {V(0), get(in, 0).re});
    for (int64_t k = 1; k <= n / 2; ++k) {
      const Number x = get(in, k);
      put(out, slots[k], x.swapped());
      put(out, slots[n - k], x.conj().swapped());
    }
  }

  static constexpr FftLoops<T> kLoops{kLanes,      load,       store,  FftButterfly<V>::transform,
                                      multiply,    clear,      rotate, weigh,
                                      split_pairs, join_pairs, unfold};
};

template <class Isa>
inline constexpr FftTable fft_table_of{
    FftLoopsOf<FullVec<float, Isa>>::kLoops, FftLoopsOf<Vec<float, 1, Isa>>::kLoops,
    FftLoopsOf<FullVec<double, Isa>>::kLoops, FftLoopsOf<Vec<double, 1, Isa>>::kLoops};

}  // namespace hearth::cpu
