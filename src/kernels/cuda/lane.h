#pragma once

// The value type of functors in CUDA kernels: one thread's value, with the operations that
// functors/hd.h requires.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "functors/hd.h"
#include "hearth/half.h"

#define HEARTH_LANE __host__ __device__ __forceinline__

namespace hearth::cuda {

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<complex<T>> = true;

/// A truth value: `&` and `|` of two bools would be an int.
struct Mask {
  bool v = false;
  Mask() = default;
  HEARTH_LANE explicit Mask(bool value) : v(value) {}
  HEARTH_LANE friend Mask operator&(Mask a, Mask b) { return Mask(a.v && b.v); }
  HEARTH_LANE friend Mask operator|(Mask a, Mask b) { return Mask(a.v || b.v); }
  HEARTH_LANE friend Mask operator!(Mask a) { return Mask(!a.v); }
};

/// The type in which integers wrap around instead of overflowing.
template <class T, bool = std::is_integral_v<T> && !std::is_same_v<T, bool>>
struct WrappingOf {
  using type = T;
};
template <class T>
struct WrappingOf<T, true> {
  using type = std::make_unsigned_t<T>;
};
template <class T>
using Wrapping = typename WrappingOf<T>::type;

/// a / b without overflow of intermediate results (Smith's method).
template <class T>
HEARTH_LANE complex<T> divide(complex<T> a, complex<T> b) {
  if (std::abs(b.real_) >= std::abs(b.imag_)) {
    if (b.real_ == 0) return {a.real_ / std::abs(b.real_), a.imag_ / std::abs(b.imag_)};
    const T ratio = b.imag_ / b.real_, scale = 1 / (b.real_ + b.imag_ * ratio);
    return {(a.real_ + a.imag_ * ratio) * scale, (a.imag_ - a.real_ * ratio) * scale};
  }
  const T ratio = b.real_ / b.imag_, scale = 1 / (b.real_ * ratio + b.imag_);
  return {(a.real_ * ratio + a.imag_) * scale, (a.imag_ * ratio - a.real_) * scale};
}
template <class T>
HEARTH_LANE T divide(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return b == 0 ? T(0) : T(a / b);
  else
    return a / b;
}

template <class T>
HEARTH_LANE bool is_negative(T a) {
  if constexpr (std::is_unsigned_v<T>)
    return false;
  else
    return a < T(0);
}

/// a to the power b; integers wrap around, a negative power of an integer is 0 unless |a| is 1.
template <class T>
HEARTH_LANE T power(T a, T b) {
  if constexpr (!std::is_integral_v<T>) {
    return ::pow(a, b);
  } else {
    using U = std::conditional_t<sizeof(T) < 4, uint32_t, Wrapping<T>>;
    if (is_negative(b)) return a == 1 ? T(1) : a == T(-1) ? (b % 2 != 0 ? T(-1) : T(1)) : T(0);
    U base = U(a), result = 1;
    for (Wrapping<T> bits = Wrapping<T>(b); bits != 0; bits = Wrapping<T>(bits >> 1)) {
      if (bits & 1) result *= base;
      base *= base;
    }
    return T(result);
  }
}

/// One value of type T: float, double, an integer, bool (+ is or, * is and) or complex.
template <class T>
struct Lane {
  static constexpr bool kIntegral = std::is_integral_v<T>;
  static constexpr bool kFloating = std::is_floating_point_v<T>;
  static constexpr bool kComplex = kIsComplex<T>;
  T v{};

  Lane() = default;
  template <class A>
  requires(std::is_arithmetic_v<A>) HEARTH_LANE Lane(A value) : v(static_cast<T>(value)) {}
  HEARTH_LANE Lane(T value) requires(kIsComplex<T>) : v(value) {}
  HEARTH_LANE static Lane from_parts(double real, double imag) requires(kIsComplex<T>) {
    using Part = typename T::value_type;
    return Lane(T(static_cast<Part>(real), static_cast<Part>(imag)));
  }

#define HEARTH_LANE_OPERATOR(op)                                         \
  HEARTH_LANE friend Lane operator op(Lane a, Lane b) {                  \
    if constexpr (kIntegral)                                             \
      return Lane(static_cast<T>(Wrapping<T>(a.v) op Wrapping<T>(b.v))); \
    else                                                                 \
      return Lane(a.v op b.v);                                           \
  }
  HEARTH_LANE_OPERATOR(+)
  HEARTH_LANE_OPERATOR(-)
  HEARTH_LANE_OPERATOR(*)
#undef HEARTH_LANE_OPERATOR
  HEARTH_LANE friend Lane operator/(Lane a, Lane b) { return Lane(divide(a.v, b.v)); }
  HEARTH_LANE friend Lane conj(Lane a) requires(kIsComplex<T>) {
    return Lane(T(a.v.real_, -a.v.imag_));
  }
  HEARTH_LANE friend Lane operator-(Lane a) {
    if constexpr (kIntegral)
      return Lane(0) - a;
    else
      return Lane(-a.v);
  }

#define HEARTH_LANE_COMPARISON(op) \
  HEARTH_LANE friend Mask operator op(Lane a, Lane b) { return Mask(a.v op b.v); }
  HEARTH_LANE_COMPARISON(<)
  HEARTH_LANE_COMPARISON(<=)
  HEARTH_LANE_COMPARISON(>)
  HEARTH_LANE_COMPARISON(>=)
  HEARTH_LANE_COMPARISON(==)
#undef HEARTH_LANE_COMPARISON
  HEARTH_LANE friend Mask operator!=(Lane a, Lane b) { return Mask(!(a.v == b.v)); }
  HEARTH_LANE friend Lane select(Mask c, Lane a, Lane b) { return c.v ? a : b; }

#define HEARTH_LANE_FLOATING(name) \
  HEARTH_LANE friend Lane name(Lane a) { return Lane(::name(a.v)); }
  HEARTH_LANE_FLOATING(sqrt)
  HEARTH_LANE_FLOATING(rsqrt)
  HEARTH_LANE_FLOATING(exp)
  HEARTH_LANE_FLOATING(exp2)
  HEARTH_LANE_FLOATING(expm1)
  HEARTH_LANE_FLOATING(log)
  HEARTH_LANE_FLOATING(log2)
  HEARTH_LANE_FLOATING(log10)
  HEARTH_LANE_FLOATING(log1p)
  HEARTH_LANE_FLOATING(sinh)
  HEARTH_LANE_FLOATING(cosh)
  HEARTH_LANE_FLOATING(tanh)
  HEARTH_LANE_FLOATING(erf)
  HEARTH_LANE_FLOATING(erfc)
  HEARTH_LANE_FLOATING(sin)
  HEARTH_LANE_FLOATING(cos)
#undef HEARTH_LANE_FLOATING
  HEARTH_LANE friend Lane mul_add(Lane a, Lane b, Lane c) { return a * b + c; }
  HEARTH_LANE friend Lane special_ndtr(Lane a) { return Lane(::normcdf(a.v)); }
  HEARTH_LANE friend Lane gelu(Lane a) { return a * special_ndtr(a); }
  HEARTH_LANE friend Lane sigmoid(Lane a) {
    const T e = ::exp(-::fabs(a.v));  // cannot overflow, so that small results keep their digits
    return Lane((a.v < 0 ? e : T(1)) / (1 + e));
  }

// Bitwise operators of integers and bools; shifts by a negative number of bits, or by too many,
// shift all bits out.
#define HEARTH_LANE_BITS(op) \
  HEARTH_LANE friend Lane operator op(Lane a, Lane b) { return Lane(static_cast<T>(a.v op b.v)); }
  HEARTH_LANE_BITS(&)
  HEARTH_LANE_BITS(|)
  HEARTH_LANE_BITS(^)
#undef HEARTH_LANE_BITS
  HEARTH_LANE friend Lane operator~(Lane a) { return Lane(static_cast<T>(~a.v)); }
  /// The quotient of integers, rounded towards zero.
  HEARTH_LANE friend Lane quotient(Lane a, Lane b) {
    if (b.v == T(-1) && is_negative(b.v)) return -a;
    return Lane(divide(a.v, b.v));
  }
  HEARTH_LANE friend bool shifts_out(Lane bits) {
    return is_negative(bits.v) || bits.v >= T(8 * sizeof(T));
  }
  HEARTH_LANE friend Lane shift_left(Lane a, Lane b) {
    return shifts_out(b) ? Lane(0) : Lane(static_cast<T>(Wrapping<T>(a.v) << b.v));
  }
  HEARTH_LANE friend Lane shift_right(Lane a, Lane b) {
    if (shifts_out(b)) return is_negative(a.v) ? Lane(-1) : Lane(0);
    return Lane(static_cast<T>(a.v >> b.v));
  }

// Integers need no rounding, and are neither NaN nor infinite.
#define HEARTH_LANE_ROUNDING(name, function) \
  HEARTH_LANE friend Lane name(Lane a) {     \
    if constexpr (kFloating)                 \
      return Lane(::function(a.v));          \
    else                                     \
      return a;                              \
  }
  HEARTH_LANE_ROUNDING(floor, floor)
  HEARTH_LANE_ROUNDING(ceil, ceil)
  HEARTH_LANE_ROUNDING(round, rint)  // halves to even
  HEARTH_LANE_ROUNDING(trunc, trunc)
#undef HEARTH_LANE_ROUNDING
  HEARTH_LANE friend Mask isnan(Lane a) { return Mask(kFloating && a.v != a.v); }
  HEARTH_LANE friend Mask isinf(Lane a) {
    if constexpr (kFloating)
      return Mask(::isinf(a.v));
    else
      return Mask(false);
  }
  HEARTH_LANE friend Mask signbit(Lane a) {
    if constexpr (kFloating)
      return Mask(::signbit(a.v));
    else
      return Mask(is_negative(a.v));
  }
  HEARTH_LANE friend Lane abs(Lane a) {
    if constexpr (kFloating)
      return Lane(::fabs(a.v));
    else
      return is_negative(a.v) ? -a : a;
  }

  HEARTH_LANE friend Lane minimum(Lane a, Lane b) { return a.v < b.v || isnan(a).v ? a : b; }
  HEARTH_LANE friend Lane maximum(Lane a, Lane b) { return a.v > b.v || isnan(a).v ? a : b; }
  HEARTH_LANE friend Lane pow(Lane a, Lane b) { return Lane(power(a.v, b.v)); }
  HEARTH_LANE friend Lane atan2(Lane a, Lane b) { return Lane(::atan2(a.v, b.v)); }
  HEARTH_LANE friend Lane fmod(Lane a, Lane b) {
    if constexpr (kFloating)
      return Lane(::fmod(a.v, b.v));
    else
      return b.v == T(0) ? Lane(0) : Lane(static_cast<T>(a.v % b.v));
  }
};

}  // namespace hearth::cuda
