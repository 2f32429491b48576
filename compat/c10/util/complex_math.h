#pragma once

#include <cmath>
#include <complex>
#include <concepts>

#include "c10/namespaces.h"
#include "hearth/half.h"

// The standard library's functions for c10::complex.
namespace c10_complex_math {

#define HEARTH_COMPLEX_FUNCTION(name)                                          \
  template <class T>                                                           \
  hearth::complex<T> name(const hearth::complex<T>& z) {                       \
    return hearth::complex<T>(std::name(std::complex<T>(z.real(), z.imag()))); \
  }
HEARTH_COMPLEX_FUNCTION(acos)
HEARTH_COMPLEX_FUNCTION(acosh)
HEARTH_COMPLEX_FUNCTION(asin)
HEARTH_COMPLEX_FUNCTION(asinh)
HEARTH_COMPLEX_FUNCTION(atan)
HEARTH_COMPLEX_FUNCTION(atanh)
HEARTH_COMPLEX_FUNCTION(cos)
HEARTH_COMPLEX_FUNCTION(cosh)
HEARTH_COMPLEX_FUNCTION(exp)
HEARTH_COMPLEX_FUNCTION(log)
HEARTH_COMPLEX_FUNCTION(log10)
HEARTH_COMPLEX_FUNCTION(sin)
HEARTH_COMPLEX_FUNCTION(sinh)
HEARTH_COMPLEX_FUNCTION(sqrt)
HEARTH_COMPLEX_FUNCTION(tan)
HEARTH_COMPLEX_FUNCTION(tanh)
#undef HEARTH_COMPLEX_FUNCTION

template <class T>
hearth::complex<T> log2(const hearth::complex<T>& z) {
  return log(z) / std::log(T(2));
}

/// log(1 + z), also accurate for small z.
template <class T>
hearth::complex<T> log1p(const hearth::complex<T>& z) {
  const T x = z.real(), y = z.imag();
  if (!(std::abs(x) < T(0.5) && std::abs(y) < T(0.5))) return log(z + T(1));
  return {std::log1p(x * (2 + x) + y * y) / 2, std::atan2(y, 1 + x)};
}

/// exp(z) - 1, also accurate for small z.
template <class T>
hearth::complex<T> expm1(const hearth::complex<T>& z) {
  const T half_sine = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half_sine * half_sine,
          std::exp(z.real()) * std::sin(z.imag())};
}

// Powers of complex and real numbers; the result has the wider type.
template <class T, class U>
hearth::complex<decltype(T() * U())> pow(const hearth::complex<T>& base,
                                         const hearth::complex<U>& exponent) {
  using Part = decltype(T() * U());
  return hearth::complex<Part>(std::pow(std::complex<Part>(base.real(), base.imag()),
                                        std::complex<Part>(exponent.real(), exponent.imag())));
}
template <class T, class U>
requires std::is_arithmetic_v<U> hearth::complex<decltype(T() * U())> pow(
    const hearth::complex<T>& base, const U& exponent) {
  using Part = decltype(T() * U());
  return hearth::complex<Part>(
      std::pow(std::complex<Part>(base.real(), base.imag()), static_cast<Part>(exponent)));
}
template <class T, class U>
requires std::is_arithmetic_v<T> hearth::complex<decltype(T() * U())> pow(
    const T& base, const hearth::complex<U>& exponent) {
  using Part = decltype(T() * U());
  return hearth::complex<Part>(
      std::pow(static_cast<Part>(base), std::complex<Part>(exponent.real(), exponent.imag())));
}

}  // namespace c10_complex_math

#define HEARTH_COMPLEX_NAMES     \
  using c10_complex_math::acos;  \
  using c10_complex_math::acosh; \
  using c10_complex_math::asin;  \
  using c10_complex_math::asinh; \
  using c10_complex_math::atan;  \
  using c10_complex_math::atanh; \
  using c10_complex_math::cos;   \
  using c10_complex_math::cosh;  \
  using c10_complex_math::exp;   \
  using c10_complex_math::expm1; \
  using c10_complex_math::log;   \
  using c10_complex_math::log10; \
  using c10_complex_math::log1p; \
  using c10_complex_math::log2;  \
  using c10_complex_math::pow;   \
  using c10_complex_math::sin;   \
  using c10_complex_math::sinh;  \
  using c10_complex_math::sqrt;  \
  using c10_complex_math::tan;   \
  using c10_complex_math::tanh;
HEARTH_COMPLEX_NAMES
namespace std {
HEARTH_COMPLEX_NAMES
}
#undef HEARTH_COMPLEX_NAMES
