#pragma once

// Sort keys, for host and device: unsigned integers that compare like the elements they represent.

#include <cstdint>
#include <type_traits>

#include "functors/hd.h"
#include "hearth/half.h"

namespace hearth::order {

template <class T>
using KeyOf =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
template <class T>
inline constexpr bool kHasNan = !std::is_integral_v<T>;

/// The key of every NaN.
template <class T>
inline constexpr KeyOf<T> kNanKey = KeyOf<T>(~KeyOf<T>(0));

/// Bits of the fraction of a floating-point type.
template <class T>
inline constexpr int kFractionBits = std::is_same_v<T, double>     ? 52
                                     : std::is_same_v<T, float>    ? 23
                                     : std::is_same_v<T, BFloat16> ? 7
                                                                   : 10;

/// The key of an element, given its bits.
template <class T>
HEARTH_FN KeyOf<T> key_of_bits(KeyOf<T> bits) {
  using K = KeyOf<T>;
  constexpr K kSign = K(K(1) << (8 * sizeof(K) - 1));
  if constexpr (!kHasNan<T>) {
    return std::is_signed_v<T> ? K(bits ^ kSign) : bits;
  } else {
    const K magnitude = K(bits & K(~kSign));
    // All bits of the exponent.
    constexpr K kInfinity = K(K(~kSign) & K(~K((K(1) << kFractionBits<T>)-1)));
    if (magnitude > kInfinity) return kNanKey<T>;
    if (magnitude == 0) return kSign;  // -0 equals 0
    return bits & kSign ? K(~bits) : K(bits | kSign);
  }
}

template <class T>
HEARTH_FN KeyOf<T> load_key(const T* from) {
  KeyOf<T> bits{};
  __builtin_memcpy(&bits, from, sizeof bits);
  return key_of_bits<T>(bits);
}

}  // namespace hearth::order
