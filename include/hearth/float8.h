#pragma once

// The 8-bit floating-point types, in which weights are stored. They are named after the bits of
// exponent and mantissa; `fn` has no infinity, `fnuz` also no negative zero.

#include "hearth/half.h"

namespace hearth {

namespace detail {

/// The layout of an 8-bit floating-point type with a sign.
struct Float8Layout {
  int mantissa;        // its bits
  int bias;            // of the exponent
  uint8_t largest;     // the code of the largest finite number
  uint8_t overflow;    // the code for larger numbers
  uint8_t nan;         // the code of NaN
  bool has_zero_sign;  // whether there are a negative zero and a negative NaN
};

/// Rounds to nearest, halves to even.
HEARTH_HOST_DEVICE constexpr uint8_t float_to_float8(float value, Float8Layout layout) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value), rest = bits & 0x7fffffffu;
  const uint32_t sign = bits >> 24 & 0x80u;
  const auto code_of = [&](uint32_t code) {
    return static_cast<uint8_t>(
        layout.has_zero_sign || (code != 0 && code != layout.nan) ? sign | code : code);
  };
  if (rest > 0x7f800000u) return code_of(layout.nan);
  const int dropped = 23 - layout.mantissa;
  const uint32_t exponents = static_cast<uint32_t>(127 - layout.bias) << 23;
  if (rest < exponents + (1u << 23)) {
    // Adding this number makes the float unit round to multiples of the subnormal step.
    const uint32_t shift = exponents + (static_cast<uint32_t>(1 + dropped) << 23);
    const float shifted = __builtin_bit_cast(float, rest) + __builtin_bit_cast(float, shift);
    return code_of(__builtin_bit_cast(uint32_t, shifted) - shift);
  }
  const uint32_t half = (1u << (dropped - 1)) - 1;
  const uint32_t code = (rest + half + (rest >> dropped & 1u) - exponents) >> dropped;
  return code_of(code > layout.largest ? layout.overflow : code);
}

HEARTH_HOST_DEVICE constexpr float float8_to_float(uint8_t code, Float8Layout layout) {
  const uint32_t sign = static_cast<uint32_t>(code & 0x80u) << 24, rest = code & 0x7fu;
  const int dropped = 23 - layout.mantissa;
  if (!layout.has_zero_sign && code == layout.nan) return __builtin_bit_cast(float, 0x7f800001u);
  if (layout.has_zero_sign && rest > layout.largest) {
    const uint32_t digits = (rest << dropped & 0x7fffffu);  // 0 for infinity
    const bool is_infinite = layout.overflow != layout.largest && rest == layout.overflow;
    return __builtin_bit_cast(float, sign | 0x7f800000u | (is_infinite ? 0 : digits | 0x400000u));
  }
  const uint32_t exponents = static_cast<uint32_t>(127 - layout.bias) << 23;
  if (rest >> layout.mantissa != 0)
    return __builtin_bit_cast(float, sign | ((rest << dropped) + exponents));
  // A subnormal number is `rest` times the smallest one, exact in float.
  const uint32_t step = exponents + (static_cast<uint32_t>(1 - layout.mantissa) << 23);
  const float magnitude = static_cast<float>(rest) * __builtin_bit_cast(float, step);
  return __builtin_bit_cast(float, sign | __builtin_bit_cast(uint32_t, magnitude));
}

/// The exponent, rounded to nearest, halves upwards; the sign is dropped.
HEARTH_HOST_DEVICE constexpr uint8_t float_to_exponent8(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value), exponent = bits >> 23 & 0xffu;
  const uint32_t rest = bits & 0x7fffffu;
  if (exponent == 0xffu) return 0xff;  // NaN, also for infinity
  return static_cast<uint8_t>(exponent + (rest > 0x400000u - (exponent > 0 ? 1 : 0)));
}

HEARTH_HOST_DEVICE constexpr float exponent8_to_float(uint8_t code) {
  const uint32_t bits = code == 0      ? 0x00400000u
                        : code == 0xff ? 0x7f800001u
                                       : static_cast<uint32_t>(code) << 23;
  return __builtin_bit_cast(float, bits);
}

}  // namespace detail

#define HEARTH_FLOAT8(Name, to_code, to_float, nan_test)                           \
  struct alignas(1) Name {                                                         \
    struct from_bits_t {};                                                         \
    uint8_t x = 0;                                                                 \
    constexpr Name() = default;                                                    \
    HEARTH_HOST_DEVICE constexpr Name(uint8_t bits, from_bits_t) : x(bits) {}      \
    HEARTH_HOST_DEVICE constexpr Name(float value) : x(to_code) {}                 \
    HEARTH_HOST_DEVICE constexpr operator float() const { return to_float; }       \
    HEARTH_HOST_DEVICE constexpr bool isnan() const { return nan_test; }           \
    /** A tag: with it, Name(bits, tag) is the number with this representation. */ \
    HEARTH_HOST_DEVICE static constexpr from_bits_t from_bits() { return {}; }     \
  };
#define HEARTH_SIGNED_FLOAT8(Name, ...)                                        \
  namespace detail {                                                           \
  inline constexpr Float8Layout k##Name##Layout{__VA_ARGS__};                  \
  }                                                                            \
  HEARTH_FLOAT8(Name, detail::float_to_float8(value, detail::k##Name##Layout), \
                detail::float8_to_float(x, detail::k##Name##Layout),           \
                static_cast<float>(*this) != static_cast<float>(*this))

/// 5 bits of exponent, 2 of mantissa; the largest number is 57344, then infinity.
HEARTH_SIGNED_FLOAT8(Float8_e5m2, 2, 15, 0x7b, 0x7c, 0x7f, true)
/// 4 bits of exponent, 3 of mantissa; the largest number is 448, also for larger numbers.
HEARTH_SIGNED_FLOAT8(Float8_e4m3fn, 3, 7, 0x7e, 0x7e, 0x7f, true)
/// 5 bits of exponent, 2 of mantissa; the largest number is 57344, larger numbers become NaN.
HEARTH_SIGNED_FLOAT8(Float8_e5m2fnuz, 2, 16, 0x7f, 0x80, 0x80, false)
/// 4 bits of exponent, 3 of mantissa; the largest number is 240, larger numbers become NaN.
HEARTH_SIGNED_FLOAT8(Float8_e4m3fnuz, 3, 8, 0x7f, 0x80, 0x80, false)
/// A power of two from 2^-127 to 2^127, or NaN: the scale of a block of numbers.
HEARTH_FLOAT8(Float8_e8m0fnu, detail::float_to_exponent8(value), detail::exponent8_to_float(x),
              x == 0xff)
#undef HEARTH_FLOAT8
#undef HEARTH_SIGNED_FLOAT8

}  // namespace hearth
