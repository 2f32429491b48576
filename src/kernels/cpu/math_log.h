#pragma once

// Logarithms over Vec: x = m 2^e, and a polynomial in s² for s = (m - 1) / (m + 1). Only arguments
// that are not positive and finite take a branch. Bound by the division and the multiply-adds, in
// log1p by two divisions.

#include "kernels/cpu/math_bits.h"

namespace hearth::cpu::math {

/// Constants of log: with s = f / (2 + f) and z = s², log(1 + f) = 2s + s z G(z).
template <class T>
struct LogConstants;
template <>
struct LogConstants<float> {
  static constexpr float kSqrtHalf = 0.707106781f, kLn2Hi = 6.931457520e-01f,
                         kLn2Lo = 1.428606765e-06f;
  static constexpr float kG[] = {6.666666865e-01f, 4.000012279e-01f, 2.855077982e-01f,
                                 2.333161384e-01f};
};
template <>
struct LogConstants<double> {
  static constexpr double kSqrtHalf = 0.70710678118654752, kLn2Hi = 6.93147180559890330e-01,
                          kLn2Lo = 5.49792301870837116e-14;
  static constexpr double kG[] = {6.66666666666666963e-01, 3.99999999998988887e-01,
                                  2.85714286262538364e-01, 2.22222110893794955e-01,
                                  1.81828924325368707e-01, 1.53316117220550080e-01,
                                  1.46178071534173254e-01};
};

/// x = m 2^e with m in [sqrt(1/2), sqrt(2)).
template <class V>
struct LogParts {
  V m, e;
};

/// The parts of a positive finite x, which may be denormal.
template <class V>
HEARTH_SIMD LogParts<V> log_parts(V x) {
  using F = FormatOf<V>;
  using B = BitsOf<V>;
  constexpr auto root =
      __builtin_bit_cast(typename F::Bits, LogConstants<typename V::Lane>::kSqrtHalf);
  constexpr auto bias = static_cast<typename F::Bits>(F::kBias) << F::kMantissa;
  constexpr typename V::Lane shift = F::kMantissa + 1;
  constexpr typename V::Lane two_to_mantissa = 1 / F::kEpsilon;
  const auto denormal = x < V(F::kMinNormal);
  x = select(denormal, x * V(2 / F::kEpsilon), x);
  // e + bias and, below it, the bits of m minus those of the root.
  const B above_root = bits_of(x) - B(root) + B(bias);
  // A bitwise or of a small integer with 2^mantissa adds it: every Isa can convert an integer to
  // floating point in this way.
  const V biased = V::from_bits((above_root >> F::kMantissa) | bits_of(V(two_to_mantissa)));
  const V e = biased - V(two_to_mantissa + F::kBias);
  return {V::from_bits((above_root & B(kMantissaMask<V>)) + B(root)),
          select(denormal, e - V(shift), e)};
}

/// log((1 + f) 2^e) + c for a small correction c.
template <class V>
HEARTH_SIMD V log_of_parts(V f, V e, V c) {
  using C = LogConstants<typename V::Lane>;
  const V s = f / (f + 2);
  const V z = s * s;
  const V half_square = 0.5 * f * f;
  const V rest = s * mul_add(z, polynomial(z, C::kG), half_square);
  const V low = rest + mul_add(e, V(C::kLn2Lo), c);
  return mul_add(e, V(C::kLn2Hi), f - (half_square - low));
}

/// The result for arguments that are not positive and finite: log(0), log(inf), log(NaN or
/// negative).
template <class V>
HEARTH_SIMD V log_special(V x, V result) {
  result = select(x == V(kInf<V>), x, result);
  result = select(x == V(0), V(-kInf<V>), result);
  return select((x < V(0)) | isnan(x), V(kNan<V>), result);
}

template <class V>
HEARTH_SIMD V log(V x) {
  const LogParts<V> parts = log_parts(x);
  const V result = log_of_parts(parts.m - 1, parts.e, V(0));
  const auto plain = (x > V(0)) & (x < V(kInf<V>));
  if (any(!plain)) [[unlikely]]
    return log_special(x, result);
  return result;
}

template <class V>
HEARTH_SIMD V log2(V x) {
  const LogParts<V> parts = log_parts(x);
  const V result =
      mul_add(log_of_parts(parts.m - 1, V(0), V(0)), V(1.44269504088896340736), parts.e);
  const auto plain = (x > V(0)) & (x < V(kInf<V>));
  if (any(!plain)) [[unlikely]]
    return log_special(x, result);
  return result;
}

template <class V>
HEARTH_SIMD V log1p(V x) {
  const V u = 1 + x;
  const LogParts<V> parts = log_parts(u);
  // The rounding error of 1 + x; it is not needed where f is x itself.
  const V lost = select(x > 1, 1 - (u - x), x - (u - 1));
  const auto unscaled = parts.e == V(0);
  const V f = select(unscaled, x, parts.m - 1);
  const V c = select(unscaled, V(0), lost / u);
  V result = log_of_parts(f, parts.e, c);
  const auto plain = (u > V(0)) & (u < V(kInf<V>));
  if (any(!plain)) [[unlikely]]
    result = log_special(u, result);
  return select(abs(x) < V(FormatOf<V>::kEpsilon / 2), x, result);
}

}  // namespace hearth::cpu::math
