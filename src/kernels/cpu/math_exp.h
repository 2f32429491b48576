#pragma once

// exp and functions made of it over Vec: e^x = 2^n e^r with |r| <= log(2) / 2, and a polynomial in
// r of degree 6 in f32 and 12 in f64. There are no tables and no branches. Bound by the
// polynomial's multiply-adds and, in sigmoid and the hyperbolic functions, a division.

#include "kernels/cpu/math_bits.h"

namespace hearth::cpu::math {

inline constexpr double kLn2 = 0.69314718055994530942;

/// Constants of exp: e^r = 1 + r + r² P(r) for |r| <= log(2) / 2; log(2) in two parts, the first
/// short enough for exact products with exponents.
template <class T>
struct ExpConstants;
template <>
struct ExpConstants<float> {
  static constexpr float kLog2E = 1.442695022e+00f, kLn2Hi = 6.931457520e-01f,
                         kLn2Lo = 1.428606765e-06f;
  // Above kMax the result is infinite, below kMin zero; below kMinusOne expm1 is -1.
  static constexpr float kMax = 89, kMin = -104, kMinusOne = -18;
  static constexpr float kP[] = {5.000000000e-01f, 1.666657627e-01f, 4.166655242e-02f,
                                 8.363232948e-03f, 1.392625039e-03f};
};
template <>
struct ExpConstants<double> {
  static constexpr double kLog2E = 1.44269504088896339e+00, kLn2Hi = 6.93147180559890330e-01,
                          kLn2Lo = 5.49792301870837116e-14;
  static constexpr double kMax = 710, kMin = -746, kMinusOne = -38;
  static constexpr double kP[] = {
      5.00000000000000000e-01, 1.66666666666666713e-01, 4.16666666666666713e-02,
      8.33333333332608381e-03, 1.38888888888837113e-03, 1.98412698750022792e-04,
      2.48015873256774607e-05, 2.75572551700008879e-06, 2.75572734787185824e-07,
      2.51053127296221029e-08, 2.09147553258932021e-09};
};

/// A `lo` without an effect: the compiler drops an addition of -0, but not of 0.
inline constexpr double kNoLow = -0.0;

/// e^x = 2^n (1 + p).
template <class V>
struct ExpParts {
  V p;
  BitsOf<V> n;
};

/// The parts of e^(x + lo); |x| must be below 1e4.
template <class V>
HEARTH_SIMD ExpParts<V> exp_parts(V x, V lo) {
  using C = ExpConstants<typename V::Lane>;
  const Rounded<V> n = round_product(x, V(C::kLog2E));
  V r = mul_add(n.value, V(-C::kLn2Hi), x);
  r = mul_add(n.value, V(-C::kLn2Lo), r) + lo;
  return {mul_add(r * r, polynomial(r, C::kP), r), n.bits - BitsOf<V>(Rounded<V>::kMagicBits)};
}

/// The parts of e^(x + lo) for any x: scale() turns results out of range into infinity or zero.
template <class V>
HEARTH_SIMD ExpParts<V> clamped_exp_parts(V x, V lo) {
  using C = ExpConstants<typename V::Lane>;
  return exp_parts(clamped(x, C::kMin, C::kMax), lo);
}

/// e^(x + lo) for |lo| much smaller than 1.
template <class V>
HEARTH_SIMD V exp_of_sum(V x, V lo) {
  const ExpParts<V> e = clamped_exp_parts(x, lo);
  return scale(1 + e.p, e.n);
}

template <class V>
HEARTH_SIMD V exp(V x) {
  return exp_of_sum(x, V(kNoLow));
}

template <class V>
HEARTH_SIMD V exp2(V x) {
  // Beyond the bounds the result is infinite or 0.
  constexpr auto bound = typename V::Lane(sizeof(typename V::Lane) == 4 ? 152 : 1077);
  const V y = clamped(x, -bound, bound);
  const Rounded<V> n = round_product(y, V(1));
  const Twofold<V> r = exact_product(y - n.value, V(kLn2));
  const ExpParts<V> e =
      exp_parts(r.hi, mul_add(y - n.value, V(kLn2 - typename V::Lane(kLn2)), r.lo));
  return scale(1 + e.p, e.n + n.bits - BitsOf<V>(Rounded<V>::kMagicBits));
}

template <class V>
HEARTH_SIMD V sigmoid(V x) {
  const V e = exp(-abs(x));  // cannot overflow, so that small results keep their digits
  return select(x < V(0), e, V(1)) / (1 + e);
}

template <class V>
HEARTH_SIMD V expm1(V x) {
  using C = ExpConstants<typename V::Lane>;
  const ExpParts<V> e = exp_parts(clamped(x, C::kMinusOne, C::kMax), V(kNoLow));
  // Computes half the result, because 2^n overflows before the result does.
  const V half = power_of_two<V>(e.n - BitsOf<V>(1));
  const V result = 2 * mul_add(half, e.p, half - 0.5);
  return select(abs(x) < V(FormatOf<V>::kEpsilon / 2), x, result);
}

/// e^a / 2 for a large positive a, infinite only where the result is.
template <class V>
HEARTH_SIMD V half_exp(V a) {
  const V root = exp(0.5 * a);
  return 0.5 * root * root;
}

/// Above this e^-x is negligible beside e^x.
inline constexpr double kHyperbolicLarge = 40;

template <class V>
HEARTH_SIMD V sinh(V x) {
  const V a = abs(x);
  const V e = expm1(a);
  return with_sign(select(a < V(kHyperbolicLarge), 0.5 * (e + e / (e + 1)), half_exp(a)), x);
}

template <class V>
HEARTH_SIMD V cosh(V x) {
  const V a = abs(x);
  const V e = exp(a);
  return select(a < V(kHyperbolicLarge), 0.5 * e + 0.5 / e, half_exp(a));
}

/// Constants of tanh: tanh(x) = x + x z P(z) with z = x² for |x| < 0.59; tanh rounds to 1 above
/// kOne.
template <class T>
struct TanhConstants;
template <>
struct TanhConstants<float> {
  static constexpr float kOne = 10;
  static constexpr float kP[] = {-3.333333135e-01f, 1.333291531e-01f, -5.387394875e-02f,
                                 2.111095935e-02f, -6.269119680e-03f};
};
template <>
struct TanhConstants<double> {
  static constexpr double kOne = 20;
  static constexpr double kP[] = {
      -3.33333333333333259e-01, 1.33333333333301968e-01,  -5.39682539647576218e-02,
      2.18694883837809301e-02,  -8.86323211354147350e-03, 3.59208316634345749e-03,
      -1.45546480280074500e-03, 5.88054154841872903e-04,  -2.32251040679385095e-04,
      8.15473780652536473e-05,  -1.83359621100394203e-05};
};

template <class V>
HEARTH_SIMD V tanh(V x) {
  using C = TanhConstants<typename V::Lane>;
  const V a = abs(x);
  const V z = a * a;
  const V small = mul_add(a * z, polynomial(z, C::kP), a);
  const ExpParts<V> e = exp_parts(2 * smaller(a, V(C::kOne)), V(kNoLow));
  const V scale = power_of_two<V>(e.n);
  const V large = 1 - 2 / (mul_add(scale, e.p, scale) + 1);
  return with_sign(select(a < V(0.59), small, large), x);
}

}  // namespace hearth::cpu::math
