#pragma once

// The stages of a Fourier transform for one instruction set. A stage turns `radix` transforms of
// `length` numbers into one, by butterflies in registers; each lane has a line of its own. The
// stages of a part of the buffer run one after the other, while it is in the cache. Bound by the
// butterflies' arithmetic, for small radices by loads and stores. Included only by fft_loops.h and
// fft_shuffle.h.

#include "kernels/cpu/fft_kernels.h"
#include "kernels/cpu/vec.h"

namespace hearth::cpu {

/// One complex number per lane.
template <class V>
struct FftNumber {
  V re, im;

  HEARTH_SIMD static FftNumber load(const typename V::Lane* from) {
    return {V::load(from), V::load(from + V::kLanes)};
  }
  HEARTH_SIMD void store(typename V::Lane* to) const {
    re.store(to);
    im.store(to + V::kLanes);
  }
  /// The product with one number for all lanes.
  HEARTH_SIMD FftNumber times(const typename V::Lane* factor) const {
    return times(V(factor[0]), V(factor[1]));
  }
  HEARTH_SIMD FftNumber times(V a, V b) const {
    return {mul_add(re, a, -(im * b)), mul_add(re, b, im * a)};
  }
  HEARTH_SIMD FftNumber conj() const { return {re, -im}; }
  HEARTH_SIMD FftNumber swapped() const { return {im, re}; }
  /// The product with -i.
  HEARTH_SIMD FftNumber turned() const { return {im, -re}; }
  HEARTH_SIMD friend FftNumber operator+(FftNumber a, FftNumber b) {
    return {a.re + b.re, a.im + b.im};
  }
  HEARTH_SIMD friend FftNumber operator-(FftNumber a, FftNumber b) {
    return {a.re - b.re, a.im - b.im};
  }
};

/// Transforms of a few numbers in registers.
template <class V>
struct FftButterfly {
  using T = typename V::Lane;
  using Number = FftNumber<V>;

  HEARTH_SIMD static void two(Number& a, Number& b) {
    const Number sum = a + b;
    b = a - b;
    a = sum;
  }
  HEARTH_SIMD static void four(Number& a, Number& b, Number& c, Number& d) {
    two(a, c);
    two(b, d);
    const Number turned = d.turned(), difference = a - b;
    a = a + b;
    d = c - turned;
    b = c + turned;
    c = difference;
  }
  HEARTH_SIMD static void eight(Number* x) {
    four(x[0], x[2], x[4], x[6]);
    four(x[1], x[3], x[5], x[7]);
    const V root(0.70710678118654752440);
    const Number a = x[3], b = x[7];
    x[3] = {(a.re + a.im) * root, (a.im - a.re) * root};
    x[5] = x[5].turned();
    x[7] = {(b.im - b.re) * root, -((b.re + b.im) * root)};
    Number y[8];
#pragma GCC unroll 8
    for (int k = 0; k < 4; ++k) {
      y[k] = x[2 * k] + x[2 * k + 1];
      y[k + 4] = x[2 * k] - x[2 * k + 1];
    }
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) x[k] = y[k];
  }
  /// An odd number of points: the sums and differences of points j and R - j share their factors.
  template <int R>
  HEARTH_SIMD static void odd(Number* x, const T* roots) {
    constexpr int kHalf = R / 2;
    Number sums[kHalf], differences[kHalf], total = x[0];
#pragma GCC unroll 8
    for (int j = 0; j < kHalf; ++j) {
      sums[j] = x[j + 1] + x[R - 1 - j];
      differences[j] = x[j + 1] - x[R - 1 - j];
      total = total + sums[j];
    }
#pragma GCC unroll 8
    for (int k = 1; k <= kHalf; ++k) {
      Number even = x[0], turning{V(0), V(0)};
#pragma GCC unroll 8
      for (int j = 0; j < kHalf; ++j) {
        const V cosine(roots[2 * ((j + 1) * k % R)]), sine(roots[2 * ((j + 1) * k % R) + 1]);
        even = {mul_add(sums[j].re, cosine, even.re), mul_add(sums[j].im, cosine, even.im)};
        turning = {mul_add(differences[j].re, sine, turning.re),
                   mul_add(differences[j].im, sine, turning.im)};
      }
      x[k] = even - turning.turned();
      x[R - k] = even + turning.turned();
    }
    x[0] = total;
  }
  template <int R>
  HEARTH_SIMD static void run(Number* x, const T* roots) {
    if constexpr (R == 2)
      two(x[0], x[1]);
    else if constexpr (R == 4)
      four(x[0], x[1], x[2], x[3]);
    else if constexpr (R == 8)
      eight(x);
    else
      odd<R>(x, roots);
  }

  /// Stage `stage` of a buffer of radix * length numbers, without twiddles if the length is 1.
  template <int R, bool twiddles>
  static void pass(const FftStage<T>& stage, T* buffer) {
    constexpr int64_t kNumber = 2 * V::kLanes;
    const int64_t length = stage.length;
    const T* twiddle = stage.twiddles;
    for (int64_t k = 0; k < length; ++k, buffer += kNumber, twiddle += 2 * (R - 1)) {
      Number x[R];
#pragma GCC unroll 16
      for (int c = 0; c < R; ++c) {
        x[c] = Number::load(buffer + c * length * kNumber);
        if (twiddles && c > 0) x[c] = x[c].times(twiddle + 2 * (c - 1));
      }
      run<R>(x, stage.roots);
#pragma GCC unroll 16
      for (int c = 0; c < R; ++c) x[c].store(buffer + c * length * kNumber);
    }
  }
  template <bool twiddles>
  HEARTH_SIMD static void any_pass(const FftStage<T>& stage, T* buffer) {
    switch (stage.radix) {
      case 2: return pass<2, twiddles>(stage, buffer);
      case 3: return pass<3, twiddles>(stage, buffer);
      case 4: return pass<4, twiddles>(stage, buffer);
      case 5: return pass<5, twiddles>(stage, buffer);
      case 7: return pass<7, twiddles>(stage, buffer);
      case 8: return pass<8, twiddles>(stage, buffer);
      case 11: return pass<11, twiddles>(stage, buffer);
      default: return pass<13, twiddles>(stage, buffer);
    }
  }
  /// Runs all stages. A part of the buffer runs through as many stages as possible before the next
  /// part, so that it stays in the cache.
  static void transform(const FftStage<T>* stages, int count, T* buffer) {
    if (count == 0) return;
    const FftStage<T>& last = stages[count - 1];
    if (count == 1) return any_pass<false>(last, buffer);
    for (int c = 0; c < last.radix; ++c)
      transform(stages, count - 1, buffer + c * last.length * 2 * V::kLanes);
    any_pass<true>(last, buffer);
  }
};

}  // namespace hearth::cpu
