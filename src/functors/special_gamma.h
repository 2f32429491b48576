#pragma once

#include "functors/special_gamma_tables.h"

namespace hearth::fn::special {

/// log |Gamma(x)|.
HEARTH_SCALAR double lgamma(double x) {
#if defined(__CUDA_ARCH__)
  return ::lgamma(x);
#else
  int sign;  // std::lgamma writes it to a global variable
  return ::lgamma_r(x, &sign);
#endif
}

/// Gamma'(x) / Gamma(x) for x > 0: a series on [1, 2], the recurrence, and the asymptotic series
/// (DLMF 5.11.2).
HEARTH_SCALAR double digamma_of_positive(double x) {
  double shift = 0;
  for (; x < 1; x += 1) shift -= 1 / x;
  if (x < 10) {
    for (; x > 2; shift += 1 / x) x -= 1;
    return shift + minus(x, digamma_root) * digamma_near(x);
  }
  static constexpr double c[] = {-1.0 / 12, 1.0 / 120,     -1.0 / 252,
                                 1.0 / 240, -1.0 / 132,    691.0 / 32760,
                                 -1.0 / 12, 3617.0 / 8160, -43867.0 / 14364};
  const double z = 1 / x / x;
  return std::log(x) - 0.5 / x + z * polynomial(z, c);
}
HEARTH_SCALAR double digamma(double x) {
  if (x == 0) return std::copysign(INFINITY, -x);
  if (!(x < 0)) return std::isinf(x) ? x : digamma_of_positive(x);
  if (x == std::floor(x)) return NAN;
  return digamma_of_positive(1 - x) - kPi / std::tan(kPi * off_integer(x));
}

/// The sum of (q + k)^-s over k >= 0, for s > 1 and q > 0: some terms, then the Euler-Maclaurin
/// formula.
HEARTH_SCALAR double zeta_of_positive(double s, double q) {
  static constexpr double c[] = {// B_2k / (2k)!
                                 1.0 / 12,
                                 -1.0 / 720,
                                 1.0 / 30240,
                                 -1.0 / 1209600,
                                 1.0 / 47900160,
                                 -691.0 / 1307674368000,
                                 1.0 / 74724249600,
                                 -3617.0 / 10670622842880000,
                                 43867.0 / 5109094217170944000,
                                 -174611.0 / 802857662698291200000.0};
  constexpr double kEps = 1.2e-17;  // relative to the sum; smaller terms cannot change it
  const double enough = s + 10;
  double sum = 0, w = q;
  for (; w < enough; w += 1) {
    const double term = std::pow(w, -s);
    sum += term;
    if (term <= kEps * sum) return sum;
  }
  const double power = std::pow(w, -s);
  sum += std::pow(w, 1 - s) / (s - 1) + power / 2;
  double factor = s * power / w;
  for (int k = 0; k < 10; ++k) {
    const double term = factor * c[k];
    sum += term;
    if (std::fabs(term) <= kEps * sum) break;
    factor *= (s + 2 * k + 1) * (s + 2 * k + 2) / w / w;
  }
  return sum;
}

/// The sum of (a + k)^-s - (b + k)^-s over k < count.
HEARTH_SCALAR double sum_of_pairs(double s, double a, double b, double count) {
  const double low = std::fmin(a, b), gap = std::fabs(a - b);
  double sum = 0;
  for (double k = 0; k < count; k += 1)
    sum -= std::pow(low + k, -s) * std::expm1(-s * std::log1p(gap / (low + k)));
  return a < b ? sum : -sum;
}

/// zeta(s, q) for whole s and negative q. The terms (q + k)^-s with q + k < 0 are
/// (-1)^s (left + j)^-s for j = 0, 1, …, the others (right + j)^-s; for odd s, the first terms of
/// both kinds nearly cancel and are subtracted pair by pair.
HEARTH_SCALAR double zeta_of_negative(double s, double q) {
  const double left = -q - std::floor(-q), right = 1 - left, terms = std::floor(-q) + 1;
  if (std::fmod(s, 2.0) == 0)
    return zeta_of_positive(s, right) + zeta_of_positive(s, left) - zeta_of_positive(s, 1 - q);
  const double pairs = std::fmin(terms, 16);
  const double sum = sum_of_pairs(s, right, left, pairs) + zeta_of_positive(s, right + pairs);
  if (pairs == terms) return sum;
  return sum - zeta_of_positive(s, left + pairs) + zeta_of_positive(s, 1 - q);
}

/// Hurwitz's zeta function.
HEARTH_SCALAR double zeta(double s, double q) {
  if (s == 1) return INFINITY;
  if (s < 1) return NAN;
  if (q > 0) return zeta_of_positive(s, q);
  if (q == std::floor(q)) return INFINITY;
  if (s != std::floor(s) || std::isnan(q)) return NAN;
  return std::isinf(s) ? s : zeta_of_negative(s, q);
}

/// The derivative of digamma for x > 0: the recurrence, then the asymptotic series (DLMF 5.15.8).
HEARTH_SCALAR double trigamma_of_positive(double x) {
  double sum = 0;
  for (; x < 10; x += 1) sum += 1 / x / x;
  static constexpr double c[] = {1.0 / 6,       -1.0 / 30, 1.0 / 42,      -1.0 / 30,    5.0 / 66,
                                 -691.0 / 2730, 7.0 / 6,   -3617.0 / 510, 43867.0 / 798};
  const double z = 1 / x / x;
  return sum + (1 + 0.5 / x + z * polynomial(z, c)) / x;
}
HEARTH_SCALAR double trigamma(double x) {
  if (!(x <= 0)) return trigamma_of_positive(x);
  if (std::isinf(x)) return NAN;
  if (x == std::floor(x)) return INFINITY;
  const double ratio = kPi / std::sin(kPi * off_integer(x));
  return ratio * ratio - trigamma_of_positive(1 - x);
}

/// The derivative of order n of the digamma function.
HEARTH_SCALAR double polygamma(double x, double n) {
  if (n == 0) return digamma(x);
  if (n == 1) return trigamma(x);
  const double magnitude = std::tgamma(n + 1) * zeta(n + 1, x);
  return std::fmod(n, 2.0) == 0 ? -magnitude : magnitude;
}

}  // namespace hearth::fn::special
