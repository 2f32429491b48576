#pragma once

#include <limits>

#include "c10/namespaces.h"
#include "hearth/float8.h"

namespace hearth::detail {

/// The members that std::numeric_limits of the 8-bit types have in common.
template <class T>
struct Float8Limits {
  static constexpr bool is_specialized = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = false;
  static constexpr bool is_iec559 = false;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr int digits10 = 0;
  static constexpr int radix = 2;
  static constexpr T of_code(uint8_t code) { return T(code, T::from_bits()); }
};

}  // namespace hearth::detail

// The codes of the smallest normal number, the lowest and the largest one, the step at 1, NaN and
// the smallest number.
#define HEARTH_FLOAT8_LIMITS(Name, digit_count, has_sign, min_code, lowest_code, max_code,       \
                             epsilon_code, nan_code)                                             \
  template <>                                                                                    \
  class std::numeric_limits<hearth::Name> : public hearth::detail::Float8Limits<hearth::Name> {  \
   public:                                                                                       \
    static constexpr bool is_signed = has_sign;                                                  \
    static constexpr bool has_infinity = max_code == 0x7b;                                       \
    static constexpr int digits = digit_count;                                                   \
    static constexpr hearth::Name min() { return of_code(min_code); }                            \
    static constexpr hearth::Name lowest() { return of_code(lowest_code); }                      \
    static constexpr hearth::Name max() { return of_code(max_code); }                            \
    static constexpr hearth::Name epsilon() { return of_code(epsilon_code); }                    \
    static constexpr hearth::Name infinity() { return of_code(has_infinity ? 0x7c : nan_code); } \
    static constexpr hearth::Name quiet_NaN() { return of_code(nan_code); }                      \
    static constexpr hearth::Name denorm_min() { return of_code(has_sign ? 1 : 0); }             \
  };
HEARTH_FLOAT8_LIMITS(Float8_e5m2, 3, true, 0x04, 0xfb, 0x7b, 0x34, 0x7f)
HEARTH_FLOAT8_LIMITS(Float8_e4m3fn, 4, true, 0x08, 0xfe, 0x7e, 0x20, 0x7f)
HEARTH_FLOAT8_LIMITS(Float8_e5m2fnuz, 3, true, 0x04, 0xff, 0x7f, 0x38, 0x80)
HEARTH_FLOAT8_LIMITS(Float8_e4m3fnuz, 4, true, 0x08, 0xff, 0x7f, 0x28, 0x80)
HEARTH_FLOAT8_LIMITS(Float8_e8m0fnu, 1, false, 0x00, 0x00, 0xfe, 0x7f, 0xff)
#undef HEARTH_FLOAT8_LIMITS
