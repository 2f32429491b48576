#pragma once

// Parts of the mathematical functions over Vec: the bits of numbers, polynomials, exact sums and
// products, rounding, products with powers of two. lane_by_lane() computes a function without
// vectors, for rare arguments.

#include "kernels/cpu/vec.h"

namespace hearth::cpu::math {

/// The layout of a floating-point type.
template <class T>
struct Format;
template <>
struct Format<float> {
  using Bits = uint32_t;
  static constexpr int kMantissa = 23;
  static constexpr int kBias = 127;
  static constexpr float kMinNormal = 0x1p-126f;
  static constexpr float kEpsilon = 0x1p-23f;
};
template <>
struct Format<double> {
  using Bits = uint64_t;
  static constexpr int kMantissa = 52;
  static constexpr int kBias = 1023;
  static constexpr double kMinNormal = 0x1p-1022;
  static constexpr double kEpsilon = 0x1p-52;
};

template <class V>
using FormatOf = Format<typename V::Lane>;
template <class V>
using BitsOf = typename V::Unsigned;

template <class V>
inline constexpr typename FormatOf<V>::Bits kSignBit =
    typename FormatOf<V>::Bits{1} << (8 * sizeof(typename V::Lane) - 1);
template <class V>
inline constexpr typename FormatOf<V>::Bits kMantissaMask = (typename FormatOf<V>::Bits{1}
                                                             << FormatOf<V>::kMantissa) -
                                                            1;

template <class V>
inline constexpr double kInf = __builtin_inf();
template <class V>
inline constexpr double kNan = __builtin_nan("");

/// magnitude (not negative) with the sign of `sign`.
template <class V>
HEARTH_SIMD V with_sign(V magnitude, V sign) {
  return V::from_bits(bits_of(magnitude) | (bits_of(sign) & BitsOf<V>(kSignBit<V>)));
}

/// x with its sign flipped where `sign` is negative.
template <class V>
HEARTH_SIMD V flip_sign(V x, V sign) {
  return V::from_bits(bits_of(x) ^ (bits_of(sign) & BitsOf<V>(kSignBit<V>)));
}

/// c[0] + c[1] x + c[2] x² + …
template <int i = 0, class V, class T, int n>
HEARTH_SIMD V polynomial(V x, const T (&c)[n]) {
  if constexpr (i == n - 1)
    return V(c[i]);
  else
    return mul_add(polynomial<i + 1>(x, c), x, V(c[i]));
}

/// An unevaluated sum of two values, |lo| much smaller than |hi|.
template <class V>
struct Twofold {
  V hi, lo;
};

/// a + b exactly, for |a| >= |b|.
template <class V>
HEARTH_SIMD Twofold<V> exact_sum(V a, V b) {
  const V hi = a + b;
  return {hi, b - (hi - a)};
}

/// a * b exactly.
template <class V>
HEARTH_SIMD Twofold<V> exact_product(V a, V b) {
  const V hi = a * b;
  return {hi, mul_add(a, b, -hi)};
}

/// (a.hi + a.lo) * (b.hi + b.lo) without the term a.lo * b.lo.
template <class V>
HEARTH_SIMD Twofold<V> product(Twofold<V> a, Twofold<V> b) {
  const Twofold<V> p = exact_product(a.hi, b.hi);
  return {p.hi, mul_add(a.hi, b.lo, mul_add(a.lo, b.hi, p.lo))};
}

/// A rounded integer n: `value` is n, `bits` are the bits of n + kMagic (bits - kMagicBits is n).
template <class V>
struct Rounded {
  static constexpr double kMagic = sizeof(typename V::Lane) == 4 ? 0x1.8p23 : 0x1.8p52;
  static constexpr typename FormatOf<V>::Bits kMagicBits =
      __builtin_bit_cast(typename FormatOf<V>::Bits, static_cast<typename V::Lane>(kMagic));
  V value;
  BitsOf<V> bits;
};

/// a * b rounded to the nearest integer, which must be below 2^22 (in double 2^51) in magnitude.
template <class V>
HEARTH_SIMD Rounded<V> round_product(V a, V b) {
  const V shifted = mul_add(a, b, V(Rounded<V>::kMagic));
  return {shifted - V(Rounded<V>::kMagic), bits_of(shifted)};
}

/// 2^n for n within the normal exponents.
template <class V>
HEARTH_SIMD V power_of_two(BitsOf<V> n) {
  return V::from_bits((n + BitsOf<V>(FormatOf<V>::kBias)) << FormatOf<V>::kMantissa);
}

/// x within the bounds; NaN stays.
template <class V>
HEARTH_SIMD V clamped(V x, double low, double high) {
  return larger(smaller(x, V(high)), V(low));
}

/// x * 2^n, rounded once, for n down to the denormals.
template <class V>
HEARTH_SIMD V scale(V x, BitsOf<V> n) {
  if constexpr (requires { V::IsaTag::scale(x.v, n.v); })
    return {V::IsaTag::scale(x.v, n.v), Raw{}};
  // Two factors, since 2^n itself may not be representable.
  constexpr int bias = FormatOf<V>::kBias;
  const BitsOf<V> sum = n + BitsOf<V>(2 * bias);  // not negative, so the shift may be a logical one
  const BitsOf<V> half = sum >> 1;
  const V a = V::from_bits(half << FormatOf<V>::kMantissa);
  const V b = V::from_bits((sum - half) << FormatOf<V>::kMantissa);
  return x * a * b;
}

/// Applies a scalar function to each pair of lanes: slow, for rare arguments and rare functions.
template <class V, class F>
[[gnu::noinline]] V lane_by_lane(const F& f, V a, V b) {
  for (int i = 0; i < V::kLanes; ++i) a.v[i] = f(a.v[i], b.v[i]);
  return a;
}

}  // namespace hearth::cpu::math
