#pragma once

#include "functors/special_airy_tables.h"
#include "functors/special_bessel_tables.h"

namespace hearth::fn::special {

/// exp(-|x|) I0(x).
HEARTH_SCALAR double i0e(double x) {
  const double a = std::fabs(x);
  return a <= 8 ? i0_near(a) : i0_far(8 / a) / std::sqrt(a);
}
/// exp(-|x|) I1(x).
HEARTH_SCALAR double i1e(double x) {
  const double a = std::fabs(x);
  return a <= 8 ? x * i1_near(a) : std::copysign(i1_far(8 / a) / std::sqrt(a), x);
}
/// scaled * exp(|x|); exp(|x|) alone may overflow although the product does not.
HEARTH_SCALAR double unscaled(double scaled, double x) {
  const double root = std::exp(std::fabs(x) / 2);
  return std::fabs(x) < 700 ? std::exp(std::fabs(x)) * scaled : root * scaled * root;
}
HEARTH_SCALAR double i0(double x) { return unscaled(i0e(x), x); }
HEARTH_SCALAR double i1(double x) { return unscaled(i1e(x), x); }

HEARTH_SCALAR double modified_bessel_k0(double x) {
  if (!(x >= 0)) return NAN;
  if (x == 0) return INFINITY;
  if (x <= 2) return k0_near(x * x) - std::log(x / 2) * i0(x);
  return std::exp(-x) * k0_far(2 / x) / std::sqrt(x);
}
HEARTH_SCALAR double modified_bessel_k1(double x) {
  if (!(x >= 0)) return NAN;
  if (x == 0) return INFINITY;
  if (x <= 2) return k1_near(x * x) / x + std::log(x / 2) * i1(x);
  return std::exp(-x) * k1_far(2 / x) / std::sqrt(x);
}
/// exp(x) K0(x).
HEARTH_SCALAR double scaled_modified_bessel_k0(double x) {
  return x > 2 ? k0_far(2 / x) / std::sqrt(x) : std::exp(x) * modified_bessel_k0(x);
}
/// exp(x) K1(x).
HEARTH_SCALAR double scaled_modified_bessel_k1(double x) {
  return x > 2 ? k1_far(2 / x) / std::sqrt(x) : std::exp(x) * modified_bessel_k1(x);
}

/// sum is sqrt(2) cos(x - pi / 4), difference sqrt(2) sin(x - pi / 4).
struct SinCosSum {
  double sum, difference;
  HEARTH_SCALAR explicit SinCosSum(double x)
      : sum(std::sin(x) + std::cos(x)), difference(std::sin(x) - std::cos(x)) {}
};

// Beyond 5, Hankel's expansion (DLMF 10.17.3): the series p and q, times the cosine and sine of the
// shifted argument.
HEARTH_SCALAR double bessel_j0(double x) {
  const double a = std::fabs(x), z = 25 / a / a;
  if (a <= 5)
    return minus(a, j0_root_a) * (a + j0_root_a.high) * minus(a, j0_root_b) * (a + j0_root_b.high) *
           j0_near(a * a);
  const SinCosSum at(a);
  return (hankel_p0(z) * at.sum - hankel_q0(z) / a * at.difference) / std::sqrt(kPi * a);
}
HEARTH_SCALAR double bessel_j1(double x) {
  const double a = std::fabs(x), z = 25 / a / a;
  if (a <= 5) return x * minus(a, j1_root) * (a + j1_root.high) * j1_near(a * a);
  const SinCosSum at(a);
  const double result = hankel_p1(z) * at.difference + hankel_q1(z) / a * at.sum;
  return std::copysign(1.0, x) * result / std::sqrt(kPi * a);
}
HEARTH_SCALAR double bessel_y0(double x) {
  if (!(x >= 0)) return NAN;
  if (x == 0) return -INFINITY;
  if (x <= 5) return y0_near(x * x) + 2 / kPi * std::log(x) * bessel_j0(x);
  const SinCosSum at(x);
  const double z = 25 / x / x;
  return (hankel_p0(z) * at.difference + hankel_q0(z) / x * at.sum) / std::sqrt(kPi * x);
}
HEARTH_SCALAR double bessel_y1(double x) {
  if (!(x >= 0)) return NAN;
  if (x == 0) return -INFINITY;
  if (x <= 5) return x * y1_near(x * x) + 2 / kPi * (std::log(x) * bessel_j1(x) - 1 / x);
  const SinCosSum at(x);
  const double z = 25 / x / x;
  return (hankel_q1(z) / x * at.difference - hankel_p1(z) * at.sum) / std::sqrt(kPi * x);
}

/// sin(x) / x.
HEARTH_SCALAR double spherical_bessel_j0(double x) {
  if (std::isinf(x)) return 0;
  return x == 0 ? 1 : std::sin(x) / x;
}

/// 2/3 a^1.5, for a > 0.
HEARTH_SCALAR TwoParts airy_phase(double a) {
  const double root = std::sqrt(a), root_low = std::fma(-root, root, a) / (2 * root);
  const double cube = a * root, cube_low = std::fma(a, root, -cube) + a * root_low;
  const double high = 2 * cube / 3;
  return {high, (std::fma(-3, high, 2 * cube) + 2 * cube_low) / 3};
}

HEARTH_SCALAR double airy_ai(double x) {
  if (std::isinf(x) || std::isnan(x)) return NAN;
  if (x > 110) return 0;
  if (x >= -4 && x <= 1) return minus(x, airy_root) * airy_middle(x);
  const double a = std::fabs(x), quarter = std::sqrt(std::sqrt(a));
  const TwoParts zeta = airy_phase(a);
  if (x > 0)
    return std::exp(-zeta.high) * (1 - zeta.low) * airy_right(1 / zeta.high) /
           (2 * std::sqrt(kPi) * quarter);
  const SinCosSum at(zeta.high);
  const double u = 1 / zeta.high / zeta.high, s = std::sin(zeta.low), c = std::cos(zeta.low);
  const double sine = c * at.sum - s * at.difference;     // sqrt(2) sin(zeta + pi / 4)
  const double cosine = -c * at.difference - s * at.sum;  // sqrt(2) cos(zeta + pi / 4)
  return (sine * airy_left_sin(u) - cosine * airy_left_cos(u) / zeta.high) /
         (std::sqrt(2 * kPi) * quarter);
}

}  // namespace hearth::fn::special
