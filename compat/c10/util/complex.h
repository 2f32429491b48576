#pragma once

#include <complex>
#include <limits>

#include "c10/namespaces.h"
#include "c10/util/complex_math.h"
#include "hearth/half.h"

// The functions of complex numbers that LibTorch adds to std for c10::complex.
namespace std {

template <class T>
class numeric_limits<hearth::complex<T>> : public numeric_limits<T> {};

template <class T>
constexpr T real(const hearth::complex<T>& z) {
  return z.real();
}
template <class T>
constexpr T imag(const hearth::complex<T>& z) {
  return z.imag();
}
template <class T>
constexpr T norm(const hearth::complex<T>& z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <class T>
constexpr hearth::complex<T> conj(const hearth::complex<T>& z) {
  return {z.real(), -z.imag()};
}
template <class T>
T abs(const hearth::complex<T>& z) {
  return std::abs(std::complex<T>(z.real(), z.imag()));
}
template <class T>
T arg(const hearth::complex<T>& z) {
  return std::arg(std::complex<T>(z.real(), z.imag()));
}

}  // namespace std

namespace c10 {

namespace complex_literals {

constexpr complex<float> operator""_if(long double imag) { return {0, float(imag)}; }
constexpr complex<double> operator""_id(long double imag) { return {0, double(imag)}; }
constexpr complex<float> operator""_if(unsigned long long imag) { return {0, float(imag)}; }
constexpr complex<double> operator""_id(unsigned long long imag) { return {0, double(imag)}; }

}  // namespace complex_literals

/// r * (cos(angle) + sin(angle) * i).
template <class T>
complex<T> polar(const T& r, const T& angle = T()) {
  return complex<T>(std::polar(r, angle));
}

}  // namespace c10
