#pragma once

// pow and log10 over Vec: a^b = exp(b * log(a)), with a logarithm of about 1.5 times the digits of
// V. Bound by the multiply-adds of log and exp and the additional ones of exact sums and products;
// powers of integers by two multiplications for each bit of the exponent.

#include "kernels/cpu/math_exp.h"
#include "kernels/cpu/math_log.h"

namespace hearth::cpu::math {

/// Constants of pow: with s = (m - 1) / (m + 1), z = s², log(m) = 2s + s z (2/3 + z Q(z)).
template <class T>
struct PowConstants;
template <>
struct PowConstants<float> {
  static constexpr float kTwoThirdsHi = 6.666666269e-01f, kTwoThirdsLo = 3.973643103e-08f;
  static constexpr float kQ[] = {4.000000060e-01f, 2.857153118e-01f, 2.220472991e-01f,
                                 1.912132949e-01f};
};
template <>
struct PowConstants<double> {
  static constexpr double kTwoThirdsHi = 6.66666666666666630e-01,
                          kTwoThirdsLo = 3.70074341541718826e-17;
  static constexpr double kQ[] = {4.00000000000000022e-01, 2.85714285714293692e-01,
                                  2.22222222216527654e-01, 1.81818183360998475e-01,
                                  1.53845948870071803e-01, 1.33348087988123393e-01,
                                  1.17061264645633975e-01, 1.17243270608467468e-01};
};

/// log(x) for positive finite x, with about 1.5 times the digits of V.
template <class V>
HEARTH_SIMD Twofold<V> precise_log(V x) {
  using C = PowConstants<typename V::Lane>;
  using L = LogConstants<typename V::Lane>;
  const LogParts<V> parts = log_parts(x);
  const V f = parts.m - 1;
  const V d = parts.m + 1;
  const V d_lo = parts.m - (d - 1);
  const V inverse = 1 / d;
  const V s_hi = f * inverse;
  const V s_lo = mul_add(-s_hi, d_lo, mul_add(-s_hi, d, f)) * inverse;
  const Twofold<V> s{s_hi, s_lo};
  const Twofold<V> z = product(s, s);
  const V series = z.hi * polynomial(z.hi, C::kQ);
  Twofold<V> c = exact_sum(V(C::kTwoThirdsHi), series);
  c.lo = c.lo + V(C::kTwoThirdsLo);
  const Twofold<V> tail = product(product(z, s), c);
  Twofold<V> log_m = exact_sum(2 * s.hi, tail.hi);
  log_m.lo = log_m.lo + mul_add(V(2), s.lo, tail.lo);
  // The exponent's term is zero or larger than log_m, and its product with kLn2Hi is exact.
  const Twofold<V> sum = exact_sum(parts.e * V(L::kLn2Hi), log_m.hi);
  return exact_sum(sum.hi, sum.lo + mul_add(parts.e, V(L::kLn2Lo), log_m.lo));
}

template <class V>
HEARTH_SIMD V log10(V x) {
  constexpr double inverse = 0.43429448190325182765;  // 1 / log(10) = hi + lo
  constexpr auto hi = typename V::Lane(inverse);
  constexpr double lo = sizeof(typename V::Lane) == 4 ? inverse - hi : 1.09831965021676510e-17;
  const Twofold<V> p = product(precise_log(x), Twofold<V>{V(hi), V(lo)});
  const auto plain = (x > V(0)) & (x < V(kInf<V>));
  if (any(!plain)) [[unlikely]]
    return log_special(x, p.hi + p.lo);
  return p.hi + p.lo;
}

/// |a|^b for a finite and not 0 and b finite.
template <class V>
HEARTH_SIMD V pow_of_magnitude(V a, V b) {
  const Twofold<V> log_a = precise_log(abs(a));
  const Twofold<V> p = exact_product(b, log_a.hi);
  const V lo = mul_add(b, log_a.lo, p.lo);
  // Outside exp's range the low part may have overflowed.
  const V bound = 1000;
  return exp_of_sum(p.hi, select(abs(p.hi) < bound, lo, V(0)));
}

/// Whether b is an odd whole number.
template <class V>
HEARTH_SIMD auto is_odd(V b) {
  const V half = 0.5 * b;
  return (trunc(b) == b) & (trunc(half) != half) & (abs(b) < V(2 / FormatOf<V>::kEpsilon));
}

/// The cases of IEEE 754 outside of pow_of_magnitude's domain, and the sign.
template <class V>
HEARTH_SIMD V pow_special(V a, V b, V result) {
  const V magnitude = abs(a);
  const V infinity = kInf<V>;
  // If a is 0 or infinite, or b infinite, the result is infinity or 0, apart from the cases below.
  const auto extreme = (magnitude == V(0)) | (magnitude == infinity) | (abs(b) == infinity);
  const auto grows = ((magnitude > V(1)) & (b > V(0))) | ((magnitude < V(1)) & (b < V(0)));
  result = select(extreme, select(grows, infinity, V(0)), result);
  result = select(is_odd(b), flip_sign(result, a), result);
  const auto finite_negative = (a < V(0)) & (a > -infinity) & (abs(b) < infinity);
  result = select(finite_negative & (trunc(b) != b), V(kNan<V>), result);
  result = select(isnan(a) | isnan(b), a + b, result);
  return select((b == V(0)) | (a == V(1)) | ((magnitude == V(1)) & (abs(b) == infinity)), V(1),
                result);
}

/// a^b of integers, wrapping; 0 for a negative b, unless a is 1 or -1.
template <class V>
HEARTH_SIMD V integer_pow(V a, V b) {
  V result = 1;
  V base = a;
  for (V remaining = select(b < V(0), V(0), b); any(remaining != V(0));
       remaining = remaining >> 1) {
    result = select((remaining & V(1)) != V(0), result * base, result);
    base = base * base;
  }
  const V odd_power = select((b & V(1)) != V(0), a, V(1));
  const V inverse = select((a == V(1)) | (a == V(-1)), odd_power, V(0));
  return select(b < V(0), inverse, result);
}

template <class V>
HEARTH_SIMD V pow(V a, V b) {
  if constexpr (V::kIntegral) {
    return integer_pow(a, b);
  } else {
    const V result = pow_of_magnitude(a, b);
    const auto plain = (a > V(0)) & (a < V(kInf<V>)) & (abs(b) < V(kInf<V>));
    if (any(!plain)) [[unlikely]]
      return pow_special(a, b, result);
    return result;
  }
}

}  // namespace hearth::cpu::math
