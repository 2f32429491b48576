#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

// Marks functions that CUDA kernels may call, too.
#ifdef __CUDACC__
#define HEARTH_HOST_DEVICE __host__ __device__
#else
#define HEARTH_HOST_DEVICE
#endif

namespace hearth {

namespace detail {

HEARTH_HOST_DEVICE constexpr uint16_t float_to_bfloat16(float value) {
  uint32_t bits = __builtin_bit_cast(uint32_t, value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0;                       // NaN
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);  // halves to even
}

HEARTH_HOST_DEVICE constexpr float bfloat16_to_float(uint16_t bits) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16);
}

HEARTH_HOST_DEVICE constexpr float half_to_float(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t abs_bits = half & 0x7fffu;
  // Infinity and NaN, then normal numbers; 0x38000000 is the difference of the exponents' biases.
  if (abs_bits >= 0x7c00u)
    return __builtin_bit_cast(float, sign | 0x7f800000u | (abs_bits & 0x3ffu) << 13);
  if (abs_bits >= 0x0400u)
    return __builtin_bit_cast(float, sign | ((abs_bits << 13) + 0x38000000u));
  // A subnormal number is abs_bits * 2^-24, exact in float.
  const float magnitude = static_cast<float>(abs_bits) * 0x1p-24f;
  return __builtin_bit_cast(float, sign | __builtin_bit_cast(uint32_t, magnitude));
}

HEARTH_HOST_DEVICE constexpr uint16_t float_to_half(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t abs_bits = bits & 0x7fffffffu;
  if (abs_bits > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);   // NaN
  if (abs_bits >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // infinity
  if (abs_bits < 0x38800000u) {
    // Adding 0.5 makes the float unit round to multiples of 2^-24, the subnormal step.
    const float shifted = __builtin_bit_cast(float, abs_bits) + 0.5f;
    return static_cast<uint16_t>(sign | (__builtin_bit_cast(uint32_t, shifted) - 0x3f000000u));
  }
  const uint32_t rounded = abs_bits + 0xfffu + ((abs_bits >> 13) & 1u) - 0x38000000u;
  return static_cast<uint16_t>(sign | rounded >> 13);  // to nearest, halves to even
}

}  // namespace detail

/// The float16 type (IEEE binary16). Each operation is computed in float; its result is float16,
/// but float or double if the other operand is one, and float with a BFloat16.
struct alignas(2) Half {
  uint16_t x = 0;
  constexpr Half() = default;
  HEARTH_HOST_DEVICE constexpr Half(float value) : x(detail::float_to_half(value)) {}
  HEARTH_HOST_DEVICE constexpr operator float() const { return detail::half_to_float(x); }
  /// The number with this representation.
  HEARTH_HOST_DEVICE static constexpr Half from_bits(uint16_t bits) {
    Half result;
    result.x = bits;
    return result;
  }
};

/// The bfloat16 type (the upper half of a float); operations are as those of Half.
struct alignas(2) BFloat16 {
  uint16_t x = 0;
  constexpr BFloat16() = default;
  HEARTH_HOST_DEVICE constexpr BFloat16(float value) : x(detail::float_to_bfloat16(value)) {}
  HEARTH_HOST_DEVICE constexpr operator float() const { return detail::bfloat16_to_float(x); }
  /// The number with this representation.
  HEARTH_HOST_DEVICE static constexpr BFloat16 from_bits(uint16_t bits) {
    BFloat16 result;
    result.x = bits;
    return result;
  }
};

namespace detail {
template <class T>
concept HalfNumber = std::same_as<T, Half> || std::same_as<T, BFloat16>;
}  // namespace detail

#define HEARTH_HALF_OPERATOR(op)                                                    \
  template <detail::HalfNumber T>                                                   \
  HEARTH_HOST_DEVICE constexpr T operator op(T a, T b) {                            \
    return T(static_cast<float>(a) op static_cast<float>(b));                       \
  }                                                                                 \
  template <detail::HalfNumber T, std::integral I>                                  \
  HEARTH_HOST_DEVICE constexpr T operator op(T a, I b) {                            \
    return a op T(static_cast<float>(b));                                           \
  }                                                                                 \
  template <detail::HalfNumber T, std::integral I>                                  \
  HEARTH_HOST_DEVICE constexpr T operator op(I a, T b) {                            \
    return T(static_cast<float>(a)) op b;                                           \
  }                                                                                 \
  template <detail::HalfNumber T>                                                   \
  HEARTH_HOST_DEVICE constexpr T& operator op##=(T& a, std::type_identity_t<T> b) { \
    return a = a op b;                                                              \
  }
HEARTH_HALF_OPERATOR(+)
HEARTH_HALF_OPERATOR(-)
HEARTH_HALF_OPERATOR(*)
HEARTH_HALF_OPERATOR(/)
#undef HEARTH_HALF_OPERATOR
template <detail::HalfNumber T>
HEARTH_HOST_DEVICE constexpr T operator-(T a) {
  return T::from_bits(static_cast<uint16_t>(a.x ^ 0x8000u));
}

/// A complex number with the layout of T[2].
template <class T>
struct alignas(2 * sizeof(T)) complex {
  using value_type = T;
  T real_ = 0, imag_ = 0;
  constexpr complex() = default;
  constexpr complex(T real, T imag = 0) : real_(real), imag_(imag) {}
  /// Conversion from another complex type, for example std::complex.
  template <class C>
  requires requires(const C& z) {
    typename C::value_type;
    z.real(), z.imag();
  }
  constexpr explicit(sizeof(typename C::value_type) >= sizeof(T)) complex(const C& other)
      : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag())) {}
  /// Conversion to std::complex.
  template <class C>
  requires requires {
    typename C::value_type;
    C(typename C::value_type(), 1);
  }
  constexpr explicit operator C() const {
    using Part = typename C::value_type;
    return C(static_cast<Part>(real_), static_cast<Part>(imag_));
  }
  /// Assignment of a number of another complex type.
  template <class C>
  requires requires(const C& z) {
    typename C::value_type;
    z.real(), z.imag();
  }
  constexpr complex& operator=(const C& other) { return *this = complex(other); }
  constexpr explicit operator bool() const { return real_ != 0 || imag_ != 0; }
  constexpr T real() const { return real_; }  ///< the real part
  constexpr T imag() const { return imag_; }  ///< the imaginary part
  constexpr void real(T value) { real_ = value; }
  constexpr void imag(T value) { imag_ = value; }
  friend constexpr complex operator+(complex a, complex b) {
    return {a.real_ + b.real_, a.imag_ + b.imag_};
  }
  friend constexpr complex operator-(complex a, complex b) {
    return {a.real_ - b.real_, a.imag_ - b.imag_};
  }
  friend constexpr complex operator*(complex a, complex b) {
    return {a.real_ * b.real_ - a.imag_ * b.imag_, a.real_ * b.imag_ + a.imag_ * b.real_};
  }
  /// Smith's method: dividing by the larger part of b first avoids overflow.
  friend constexpr complex operator/(complex a, complex b) {
    const auto size = [](T x) { return x < 0 ? -x : x; };
    if (size(b.real_) < size(b.imag_)) {
      return complex(a.imag_, -a.real_) / complex(b.imag_, -b.real_);  // both times -i
    }
    if (b.real_ == 0 && b.imag_ == 0) return {a.real_ / size(b.real_), a.imag_ / size(b.real_)};
    const T ratio = b.imag_ / b.real_, scale = 1 / (b.real_ + b.imag_ * ratio);
    return {(a.real_ + a.imag_ * ratio) * scale, (a.imag_ - a.real_ * ratio) * scale};
  }
  constexpr complex operator+() const { return *this; }
  constexpr complex operator-() const { return {-real_, -imag_}; }
  constexpr complex& operator+=(complex b) { return *this = *this + b; }
  constexpr complex& operator-=(complex b) { return *this = *this - b; }
  constexpr complex& operator*=(complex b) { return *this = *this * b; }
  constexpr complex& operator/=(complex b) { return *this = *this / b; }
  friend constexpr bool operator==(complex a, complex b) {
    return a.real_ == b.real_ && a.imag_ == b.imag_;
  }
};

}  // namespace hearth
