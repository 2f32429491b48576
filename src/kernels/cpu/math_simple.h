#pragma once

#include "kernels/cpu/math_bits.h"

namespace hearth::cpu::math {

template <class V>
HEARTH_SIMD V abs(V x) {
  if constexpr (V::kIntegral)
    return select(x < V(0), -x, x);
  else
    return V::from_bits(bits_of(x) & BitsOf<V>(~kSignBit<V>));
}

template <class V>
HEARTH_SIMD V sqrt(V x) {
  return {V::IsaTag::sqrt(x.v), Raw{}};
}

template <class V>
HEARTH_SIMD V rsqrt(V x) {
  return V(1) / sqrt(x);
}

// Integers need no rounding; round() rounds halves to even.
#define HEARTH_ROUNDING(name)               \
  template <class V>                        \
  HEARTH_SIMD V name(V x) {                 \
    if constexpr (V::kIntegral)             \
      return x;                             \
    else                                    \
      return {V::IsaTag::name(x.v), Raw{}}; \
  }
HEARTH_ROUNDING(floor)
HEARTH_ROUNDING(ceil)
HEARTH_ROUNDING(round)
HEARTH_ROUNDING(trunc)
#undef HEARTH_ROUNDING

// The processor's minimum and maximum are not used, because they lose a NaN in one operand.
template <class V>
HEARTH_SIMD V minimum(V a, V b) {
  if constexpr (V::kIntegral)
    return select(a < b, a, b);
  else
    return select((a < b) | isnan(a), a, b);
}

template <class V>
HEARTH_SIMD V maximum(V a, V b) {
  if constexpr (V::kIntegral)
    return select(a > b, a, b);
  else
    return select((a > b) | isnan(a), a, b);
}

/// C's fmod of one lane. The remainder of an integer divided by 0 or -1 is 0, without a division:
/// the lowest integer divided by -1 would overflow.
template <class T>
struct FmodLane {
  HEARTH_SIMD T operator()(T a, T b) const {
    if constexpr (LaneTraits<T>::kIntegral)
      return b == 0 || (b == T(-1) && T(-1) < T(0)) ? T(0) : T(a % b);
    else if constexpr (sizeof(T) == 4)
      return __builtin_fmodf(a, b);
    else
      return __builtin_fmod(a, b);
  }
};
template <class V>
HEARTH_SIMD V fmod(V a, V b) {
  return lane_by_lane(FmodLane<typename V::Lane>{}, a, b);
}

/// The quotient of two integers; division by 0 gives 0, and the lowest integer divided by -1 wraps.
template <class T>
struct QuotientLane {
  HEARTH_SIMD T operator()(T a, T b) const {
    using U = typename LaneTraits<T>::Unsigned;
    return b == 0 ? T(0) : b == T(-1) && T(-1) < T(0) ? T(U(0) - U(a)) : T(a / b);
  }
};
template <class V>
HEARTH_SIMD V quotient(V a, V b) {
  return lane_by_lane(QuotientLane<typename V::Lane>{}, a, b);
}

}  // namespace hearth::cpu::math
