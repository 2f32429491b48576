#pragma once

#include <cmath>

#include "c10/util/Half.h"

namespace c10 {

/// The number with the size of `a` and the sign of `b`.
template <class T, class U>
auto copysign(const T& a, const U& b) {
  return std::copysign(a, b);
}
inline Half copysign(Half a, Half b) {
  return Half::from_bits(static_cast<uint16_t>((a.x & 0x7fffu) | (b.x & 0x8000u)));
}
inline BFloat16 copysign(BFloat16 a, BFloat16 b) {
  return BFloat16::from_bits(static_cast<uint16_t>((a.x & 0x7fffu) | (b.x & 0x8000u)));
}

}  // namespace c10
