#pragma once

#include "functors/special_chebyshev.h"

namespace hearth::fn::special {

inline constexpr double kSqrtHalf = 0.70710678118654752440, kSqrtTwoPi = 2.50662827463100050242;

/// exp(factor x^2), from x^2 as a sum of two numbers.
HEARTH_SCALAR double exp_of_square(double x, double factor = 1) {
  const double high = x * x, low = std::fma(x, x, -high);
  const double result = std::exp(factor * high);
  return std::isinf(result) ? result : result + result * (factor * low);
}

/// exp(x^2) erfc(x): beyond 10 by erfc's continued fraction (DLMF 7.9.2).
HEARTH_SCALAR double erfcx(double x) {
  constexpr double kInvSqrtPi = 0.56418958354775628695;
  if (x < -20) return 2 * exp_of_square(x);
  if (!(x > 10)) return exp_of_square(x) * std::erfc(x);
  double tail = 0;
  for (int k = 20; k > 0; --k) tail = 0.5 * k / (x + tail);
  return kInvSqrtPi / (x + tail);
}

// The inverse of ndtr: Wichura's algorithm AS 241, three quotients of polynomials.

/// ndtri(1/2 + q) for |q| <= 0.425.
HEARTH_SCALAR double ndtri_middle(double q) {
  static constexpr double numerator[] = {3.3871328727963666080,   1.3314166789178437745e2,
                                         1.9715909503065514427e3, 1.3731693765509461125e4,
                                         4.5921953931549871457e4, 6.7265770927008700853e4,
                                         3.3430575583588128105e4, 2.5090809287301226727e3};
  static constexpr double denominator[] = {1,
                                           4.2313330701600911252e1,
                                           6.8718700749205790830e2,
                                           5.3941960214247511077e3,
                                           2.1213794301586595867e4,
                                           3.9307895800092710610e4,
                                           2.8729085735721942674e4,
                                           5.2264952788528545610e3};
  return q * polynomial(0.180625 - q * q, numerator) / polynomial(0.180625 - q * q, denominator);
}
/// |ndtri(p)| for p = exp(-r^2) or p = 1 - exp(-r^2), r <= 5.
HEARTH_SCALAR double ndtri_side(double r) {
  static constexpr double numerator[] = {1.42343711074968357734,    4.63033784615654529590,
                                         5.76949722146069140550,    3.64784832476320460504,
                                         1.27045825245236838258,    2.41780725177450611770e-1,
                                         2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double denominator[] = {1,
                                           2.05319162663775882187,
                                           1.67638483018380384940,
                                           6.89767334985100004550e-1,
                                           1.48103976427480074590e-1,
                                           1.51986665636164571966e-2,
                                           5.47593808499534494600e-4,
                                           1.05075007164441684324e-9};
  return polynomial(r - 1.6, numerator) / polynomial(r - 1.6, denominator);
}
/// The same for r > 5.
HEARTH_SCALAR double ndtri_tail(double r) {
  static constexpr double numerator[] = {6.65790464350110377720,    5.46378491116411436990,
                                         1.78482653991729133580,    2.96560571828504891230e-1,
                                         2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                         2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double denominator[] = {1,
                                           5.99832206555887937690e-1,
                                           1.36929880922737805310e-1,
                                           1.48753612908506148525e-2,
                                           7.86869131145613259100e-4,
                                           1.84631831751005468180e-5,
                                           1.42151175831644588870e-7,
                                           2.04426310338993978564e-15};
  return polynomial(r - 5, numerator) / polynomial(r - 5, denominator);
}
HEARTH_SCALAR double ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return NAN;
  if (p == 0 || p == 1) return p == 0 ? -INFINITY : INFINITY;
  const double q = p - 0.5, tail = q < 0 ? p : 1 - p;
  if (std::fabs(q) <= 0.425) return ndtri_middle(q);
  const double r = std::sqrt(-std::log(tail));
  double x = r <= 5 ? ndtri_side(r) : ndtri_tail(r);
  if (r > 5 && tail > 1e-290)  // a step of Newton's method, for the last digits
    x += (std::erfc(x * kSqrtHalf) / 2 - tail) * kSqrtTwoPi * exp_of_square(x, 0.5);
  return q < 0 ? -x : x;
}

/// log(ndtr(x)).
HEARTH_SCALAR double log_ndtr(double x) {
  const double t = x * kSqrtHalf;
  if (x < -1) return std::log(erfcx(-t) / 2) - x * x / 2;
  return std::log1p(-(x > 5 ? erfcx(t) / exp_of_square(x, 0.5) : std::erfc(t)) / 2);
}

}  // namespace hearth::fn::special
