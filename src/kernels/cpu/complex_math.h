#pragma once

// Functions of complex numbers for pointwise formulas, computed with the standard library.

#include <cmath>
#include <complex>

#include "kernels/cpu/vec_complex.h"

namespace hearth::cpu {

/// Stands for an instruction set: complex numbers are compiled once, for any processor.
struct AnyIsa {};

/// One complex number as the value of a pointwise formula.
template <class T>
using ComplexValue = ComplexLane<T, AnyIsa>;

template <class T>
std::complex<T> standard(ComplexValue<T> x) {
  return {x.re, x.im};
}
template <class T>
ComplexValue<T> value_of(const std::complex<T>& x) {
  return {x.real(), x.imag()};
}

#define HEARTH_COMPLEX_FUNCTION(name)           \
  template <class T>                            \
  ComplexValue<T> name(ComplexValue<T> x) {     \
    return value_of(std::name(standard<T>(x))); \
  }
HEARTH_COMPLEX_FUNCTION(sqrt)
HEARTH_COMPLEX_FUNCTION(exp)
HEARTH_COMPLEX_FUNCTION(log)
HEARTH_COMPLEX_FUNCTION(sin)
HEARTH_COMPLEX_FUNCTION(cos)
HEARTH_COMPLEX_FUNCTION(tan)
HEARTH_COMPLEX_FUNCTION(asin)
HEARTH_COMPLEX_FUNCTION(acos)
HEARTH_COMPLEX_FUNCTION(atan)
HEARTH_COMPLEX_FUNCTION(sinh)
HEARTH_COMPLEX_FUNCTION(cosh)
HEARTH_COMPLEX_FUNCTION(tanh)
HEARTH_COMPLEX_FUNCTION(asinh)
HEARTH_COMPLEX_FUNCTION(acosh)
HEARTH_COMPLEX_FUNCTION(atanh)
#undef HEARTH_COMPLEX_FUNCTION

/// Both parts multiplied by a real number.
template <class T>
ComplexValue<T> scaled(ComplexValue<T> x, double factor) {
  return {static_cast<T>(x.re * factor), static_cast<T>(x.im * factor)};
}

template <class T>
ComplexValue<T> conj(ComplexValue<T> x) {
  return {x.re, -x.im};
}
template <class T>
ComplexValue<T> sgn(ComplexValue<T> x) {
  const T length = std::hypot(x.re, x.im);
  if (length == 0) return 0;
  return {x.re / length, x.im / length};
}
template <class T>
ComplexValue<T> rsqrt(ComplexValue<T> x) {
  return ComplexValue<T>(1) / sqrt(x);
}
template <class T>
ComplexValue<T> exp2(ComplexValue<T> x) {
  return exp(scaled(x, 0.69314718055994530942));
}
template <class T>
ComplexValue<T> log2(ComplexValue<T> x) {
  return scaled(log(x), 1.44269504088896340736);
}
template <class T>
ComplexValue<T> log10(ComplexValue<T> x) {
  return scaled(log(x), 0.43429448190325182765);
}
template <class T>
ComplexValue<T> sigmoid(ComplexValue<T> x) {
  return ComplexValue<T>(1) / (ComplexValue<T>(1) + exp(-x));
}

/// exp(x) - 1, accurate near 0: cos(y) - 1 is computed as -2 sin²(y / 2).
template <class T>
ComplexValue<T> expm1(ComplexValue<T> x) {
  if (x.im == 0) return {std::expm1(x.re), x.im};
  const T half = std::sin(x.im / 2);
  return {std::expm1(x.re) * std::cos(x.im) - 2 * half * half, std::exp(x.re) * std::sin(x.im)};
}

/// log(1 + x), accurate near 0: |1 + x|² - 1 is computed without the 1.
template <class T>
ComplexValue<T> log1p(ComplexValue<T> x) {
  const T angle = std::atan2(x.im, 1 + x.re);
  if (std::hypot(x.re, x.im) < T(0.5))
    return {std::log1p(x.re * (2 + x.re) + x.im * x.im) / 2, angle};
  return {std::log(std::hypot(1 + x.re, x.im)), angle};
}

/// a to the power b. Any a to the power 0 is 1; 0 to a power with a positive real part is 0.
template <class T>
ComplexValue<T> pow(ComplexValue<T> a, ComplexValue<T> b) {
  if (b.re == 0 && b.im == 0) return 1;
  if (a.re == 0 && a.im == 0 && b.re > 0) return 0;
  return value_of(std::pow(standard<T>(a), standard<T>(b)));
}

/// The absolute value of a complex number, which can be compared by <.
template <class T>
struct Length {
  T value;
  friend typename ComplexValue<T>::Mask operator<(Length a, double b) { return {a.value < b}; }
};
template <class T>
Length<T> abs(ComplexValue<T> x) {
  return {std::hypot(x.re, x.im)};
}

template <class T>
typename ComplexValue<T>::Mask isnan(ComplexValue<T> x) {
  return {std::isnan(x.re) || std::isnan(x.im)};
}
template <class T>
typename ComplexValue<T>::Mask isinf(ComplexValue<T> x) {
  return {std::isinf(x.re) || std::isinf(x.im)};
}

}  // namespace hearth::cpu
