#pragma once

// SIMD values for reductions: see functors/hd.h for what a formula asks of them. Isa is a tag that keeps
// the code of different targets apart.

#include <cstdint>

#include "functors/hd.h"
#include "hearth/half.h"

namespace hearth::cpu {

namespace detail {

/// The type in which T is added: unsigned integers wrap instead of overflowing.
template <class T>
struct ArithmeticOf {
  using type = T;
};
template <>
struct ArithmeticOf<int64_t> {
  using type = uint64_t;
};

template <class T, int N>
struct RawVector {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};

}  // namespace detail

/// N values of type T side by side.
template <class T, int N, class Isa>
struct Lanes {
  static constexpr bool kIntegral = T(0.5) == T(0);
  static constexpr int kCount = N;
  using Raw = typename detail::RawVector<T, N>::type;
  using Wrapping = typename detail::RawVector<typename detail::ArithmeticOf<T>::type, N>::type;

  Raw raw;

  Lanes() = default;
  HEARTH_FN Lanes(Raw value) : raw(value) {}
  HEARTH_FN Lanes(T value) : raw(value - Raw{}) {}  // adding zero would lose -0.0

  /// Reads and writes N elements, aligned in no way.
  HEARTH_FN static Lanes load(const T* from) {
    Raw value;
    __builtin_memcpy(&value, from, sizeof(Raw));
    return value;
  }
  HEARTH_FN void store(T* to) const { __builtin_memcpy(to, &raw, sizeof(Raw)); }

  HEARTH_FN friend Lanes operator+(Lanes a, Lanes b) { return Raw(Wrapping(a.raw) + Wrapping(b.raw)); }
  HEARTH_FN friend Lanes operator-(Lanes a, Lanes b) { return Raw(Wrapping(a.raw) - Wrapping(b.raw)); }
  HEARTH_FN friend Lanes operator*(Lanes a, Lanes b) { return Raw(Wrapping(a.raw) * Wrapping(b.raw)); }
  HEARTH_FN friend Lanes operator/(Lanes a, Lanes b) { return a.raw / b.raw; }
  HEARTH_FN friend Lanes maximum(Lanes a, Lanes b) {
    return (a.raw > b.raw) | (a.raw != a.raw) ? a.raw : b.raw;
  }
  HEARTH_FN friend Lanes minimum(Lanes a, Lanes b) {
    return (a.raw < b.raw) | (a.raw != a.raw) ? a.raw : b.raw;
  }
  HEARTH_FN friend Lanes sqrt(Lanes a) {
    for (int i = 0; i < N; ++i) a.raw[i] = root(a.raw[i]);
    return a;
  }

 private:
  HEARTH_FN static float root(float x) { return __builtin_sqrtf(x); }
  HEARTH_FN static double root(double x) { return __builtin_sqrt(x); }
};

/// A complex number as a vector of one lane.
template <class T, class Isa>
struct ComplexLane {
  static constexpr bool kIntegral = false;
  static constexpr int kCount = 1;

  T re, im;

  ComplexLane() = default;
  HEARTH_FN ComplexLane(T real, T imag) : re(real), im(imag) {}
  HEARTH_FN ComplexLane(T value) : re(value), im(0) {}

  HEARTH_FN static ComplexLane load(const complex<T>* from) {
    T parts[2];
    __builtin_memcpy(parts, from, sizeof(parts));
    return {parts[0], parts[1]};
  }
  HEARTH_FN void store(complex<T>* to) const {
    const T parts[2] = {re, im};
    __builtin_memcpy(static_cast<void*>(to), parts, sizeof(parts));
  }

  HEARTH_FN friend ComplexLane operator+(ComplexLane a, ComplexLane b) { return {a.re + b.re, a.im + b.im}; }
  HEARTH_FN friend ComplexLane operator-(ComplexLane a, ComplexLane b) { return {a.re - b.re, a.im - b.im}; }
  HEARTH_FN friend ComplexLane operator*(ComplexLane a, ComplexLane b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  HEARTH_FN friend ComplexLane operator/(ComplexLane a, T b) { return {a.re / b, a.im / b}; }
};

/// How elements of type T are stored, one of them as a value, as many as fill a register, and the numbers
/// that values can be made of.
template <class T, class Isa>
struct LanesOf {
  using Stored = T;
  using Number = T;
  using One = Lanes<T, 1, Isa>;
  using Full = Lanes<T, Isa::kBytes / int(sizeof(T)), Isa>;
};
/// Bools are computed as bytes of 0 and 1.
template <class Isa>
struct LanesOf<bool, Isa> : LanesOf<uint8_t, Isa> {
  using Number = bool;
};
template <class T, class Isa>
struct LanesOf<complex<T>, Isa> {
  using Stored = complex<T>;
  using Number = T;
  using One = ComplexLane<T, Isa>;
  using Full = One;
};

}  // namespace hearth::cpu
