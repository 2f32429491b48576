#pragma once

#include "functors/special_error.h"
#include "functors/special_gamma.h"

namespace hearth::fn::special {

// The regularized incomplete gamma functions P(a, x) (igamma, "the lower function") and Q = 1 - P
// (igammac, "the upper function").

inline constexpr double kIgammaEps = 1.1102230246251565e-16;  // 2^-53

/// log(x / a) - (x - a) / a.
HEARTH_SCALAR double log_minus_line(double a, double x) {
  const double t = (x - a) / a;
  if (std::fabs(t) > 0.4) return std::log(x / a) - t;
  double power = t, sum = 0;
  for (int k = 2; k < 60; ++k) {
    power *= -t;
    const double term = power / k;
    sum += term;
    if (std::fabs(term) < kIgammaEps * std::fabs(sum)) break;
  }
  return sum;
}

/// lgamma(1 + a) for 0 <= a <= 1/4.
HEARTH_SCALAR double lgamma1p(double a) {
  constexpr double one_minus_euler_gamma = 0.42278433509846713939;
  return -std::log1p(a) + a * one_minus_euler_gamma + a * a * lgamma1p_tail(a);
}

/// Gamma(a) / (sqrt(2 pi / a) (a / e)^a) for a > 10 (DLMF 5.11.1).
HEARTH_SCALAR double scaled_gamma(double a) {
  static constexpr double c[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                 1.0 / 1188, -691.0 / 360360, 1.0 / 156};
  return std::exp(polynomial(1 / a / a, c) / a);
}

/// x^a exp(-x) / Gamma(a).
HEARTH_SCALAR double igamma_factor(double a, double x) {
  constexpr double two_pi = 6.28318530717958647693;
  if (a > 20) return std::sqrt(a / two_pi) * std::exp(a * log_minus_line(a, x)) / scaled_gamma(a);
  const double root = std::exp(-x / 2);
  return root == 0 ? 0 : std::pow(x, a) * root / std::tgamma(a) * root;
}

/// The lower function by its power series (DLMF 8.7.1).
HEARTH_SCALAR double igamma_series(double a, double x) {
  double term = 1, sum = 1;
  for (int k = 1; k < 2000 && term > kIgammaEps * sum; ++k) {
    term *= x / (a + k);
    sum += term;
  }
  const double factor =
      a < 0.25 ? std::exp(a * std::log(x) - x - lgamma1p(a)) : igamma_factor(a, x) / a;
  return factor * sum;
}

/// The upper function by its continued fraction (DLMF 8.9.2), by Lentz's method.
HEARTH_SCALAR double igammac_fraction(double a, double x) {
  double b = x + 1 - a, c = 1e300, d = 1 / b, fraction = d;
  for (int k = 1; k < 2000; ++k) {
    const double numerator = k * (a - k);
    b += 2;
    d = 1 / (b + numerator * d);
    c = b + numerator / c;
    fraction *= c * d;
    if (std::fabs(c * d - 1) < kIgammaEps) break;
  }
  return igamma_factor(a, x) * fraction;
}

/// The upper function for small x, by its power series.
HEARTH_SCALAR double igammac_series(double a, double x) {
  double term = 1, sum = 0;
  for (int k = 1; k < 100; ++k) {
    term *= -x / k;
    sum += term / (a + k);
    if (std::fabs(term) < kIgammaEps * std::fabs(sum)) break;
  }
  const double log_gamma = a < 0.25 ? lgamma1p(a) : special::lgamma(1 + a);
  const double logarithm = a * std::log(x) - log_gamma;  // of x^a / Gamma(1 + a)
  return -std::expm1(logarithm) - a * std::exp(logarithm) * sum;
}

/// Temme's uniform expansion (DLMF 8.12): the lower function for sign = 1, else the upper one.
HEARTH_SCALAR double igamma_uniform(double a, double x, double sign) {
  constexpr double two_pi = 6.28318530717958647693;
  const double half_square = -log_minus_line(a, x);
  const double eta = std::copysign(std::sqrt(2 * half_square), x - a);
  const double terms[] = {temme_0(eta), temme_1(eta), temme_2(eta), temme_3(eta),
                          temme_4(eta), temme_5(eta), temme_6(eta)};
  const double rest = std::exp(-a * half_square) / std::sqrt(two_pi * a) * polynomial(1 / a, terms);
  return 0.5 * std::erfc(-sign * eta * std::sqrt(a / 2)) - sign * rest;
}

/// The lower function's value for zero, negative, infinite and NaN arguments; else -1.
HEARTH_SCALAR double igamma_limit(double a, double x) {
  if (x < 0 || a < 0) return NAN;
  if (a == 0) return x > 0 ? 1 : NAN;
  if (x == 0) return 0;
  if (std::isinf(a)) return std::isinf(x) ? NAN : 0;
  if (std::isinf(x)) return 1;
  return std::isnan(a) || std::isnan(x) ? NAN : -1;
}

/// Whether the uniform expansion is precise.
HEARTH_SCALAR bool is_uniform(double a, double x) { return a > 200 && std::fabs(x - a) < 0.4 * a; }

/// The upper function where the uniform expansion is not precise; the borders are those of Cephes.
HEARTH_SCALAR double igammac_not_uniform(double a, double x) {
  const bool is_lower = x > 1.1 ? x < a : x <= 0.5 ? -0.4 / std::log(x) < a : x * 1.1 < a;
  if (is_lower) return 1 - igamma_series(a, x);
  return x > 1.1 ? igammac_fraction(a, x) : igammac_series(a, x);
}

HEARTH_SCALAR double igamma(double a, double x) {
  const double limit = igamma_limit(a, x);
  if (limit != -1) return limit;
  if (is_uniform(a, x)) return igamma_uniform(a, x, 1);
  return x > 1 && x > a ? 1 - igammac_not_uniform(a, x) : igamma_series(a, x);
}
HEARTH_SCALAR double igammac(double a, double x) {
  const double limit = igamma_limit(a, x);
  if (limit != -1) return 1 - limit;
  return is_uniform(a, x) ? igamma_uniform(a, x, -1) : igammac_not_uniform(a, x);
}

}  // namespace hearth::fn::special
