#pragma once

#include "kernels/cpu/vec.h"

namespace hearth::cpu {

/// The value type V of complex formulas: one complex number with arithmetic, equality and select.
/// complex_math.h has its functions (exp, sqrt and others), for pointwise formulas only.
template <class T, class Isa>
struct ComplexLane {
  struct Mask {
    bool value;
    HEARTH_SIMD friend ComplexLane select(Mask m, ComplexLane a, ComplexLane b) {
      return m.value ? a : b;
    }
    HEARTH_SIMD friend Mask operator&(Mask a, Mask b) { return {a.value && b.value}; }
    HEARTH_SIMD friend Mask operator|(Mask a, Mask b) { return {a.value || b.value}; }
    HEARTH_SIMD friend Mask operator!(Mask a) { return {!a.value}; }
  };
  static constexpr bool kIntegral = false, kComplex = true;

  T re, im;

  ComplexLane() = default;
  HEARTH_SIMD ComplexLane(T real, T imag) : re(real), im(imag) {}
  template <class S>
  requires(std::is_arithmetic_v<S>) HEARTH_SIMD ComplexLane(S real)
      : re(static_cast<T>(real)), im(0) {}

  HEARTH_SIMD static ComplexLane from_parts(double real, double imag) {
    return {static_cast<T>(real), static_cast<T>(imag)};
  }
  HEARTH_SIMD static ComplexLane load(const void* from) {
    T parts[2];
    __builtin_memcpy(parts, from, sizeof parts);
    return {parts[0], parts[1]};
  }
  HEARTH_SIMD void store(void* to) const {
    const T parts[2] = {re, im};
    __builtin_memcpy(to, parts, sizeof parts);
  }

  HEARTH_SIMD friend ComplexLane operator+(ComplexLane a, ComplexLane b) {
    return {a.re + b.re, a.im + b.im};
  }
  HEARTH_SIMD friend ComplexLane operator-(ComplexLane a, ComplexLane b) {
    return {a.re - b.re, a.im - b.im};
  }
  HEARTH_SIMD friend ComplexLane operator-(ComplexLane a) { return {-a.re, -a.im}; }
  HEARTH_SIMD friend ComplexLane operator*(ComplexLane a, ComplexLane b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  /// Smith's method: dividing by the larger part of b first avoids intermediate overflow.
  HEARTH_SIMD friend ComplexLane operator/(ComplexLane a, ComplexLane b) {
    const bool real_larger = magnitude(b.re) >= magnitude(b.im);
    const T larger = real_larger ? b.re : b.im;
    const T smaller = real_larger ? b.im : b.re;
    if (larger == 0) return {a.re / magnitude(b.re), a.im / magnitude(b.re)};
    const T ratio = smaller / larger;
    const T scale = 1 / (larger + smaller * ratio);
    if (real_larger) return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
  }
  HEARTH_SIMD friend Mask operator==(ComplexLane a, ComplexLane b) {
    return {a.re == b.re && a.im == b.im};
  }
  HEARTH_SIMD friend Mask operator!=(ComplexLane a, ComplexLane b) {
    return {!(a.re == b.re && a.im == b.im)};
  }

 private:
  HEARTH_SIMD static T magnitude(T x) { return static_cast<T>(__builtin_fabs(x)); }
};

}  // namespace hearth::cpu
