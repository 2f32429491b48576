#pragma once

#include "functors/special_chebyshev.h"

// Orthogonal polynomials of degree n, by their recurrences; Chebyshev's of a higher degree than 6
// also by sines and cosines. The degree is truncated to an integer; a negative one gives 0, as in
// PyTorch.

namespace hearth::fn::special {

/// A degree as an integer; -1 if the integer would be negative or too large, and for NaN.
HEARTH_SCALAR long long degree_of(double n) {
  return n > -1 && n < 9e18 ? static_cast<long long>(n) : -1;
}

/// The polynomial p_n, where p_0 = 1, p_1 = `first` and p_{k+1} = next(k, p_k, p_{k-1}).
template <class Next>
HEARTH_SCALAR double recurrence(long long n, double first, const Next& next) {
  if (n < 0) return 0;
  if (n == 0) return 1;
  double before = 1, p = first;
  for (long long k = 1; k < n && !std::isnan(p); ++k) {
    const double after = next(static_cast<double>(k), p, before);
    before = p;
    p = after;
  }
  return p;
}

/// The Chebyshev polynomials, which differ in p_1.
HEARTH_SCALAR double chebyshev_recurrence(double x, long long n, double first) {
  return recurrence(n, first, [x](double, double p, double before) { return 2 * x * p - before; });
}
/// Whether the formula with sines or cosines is used, whose time does not grow with n.
HEARTH_SCALAR bool is_angular(double x, long long n) { return n > 6 && std::fabs(x) < 1; }

/// cos(n t), where x = cos(t).
HEARTH_SCALAR double chebyshev_polynomial_t(double x, double degree) {
  const long long n = degree_of(degree);
  if (std::fabs(x) == 1) return n < 0 ? 0 : x > 0 || n % 2 == 0 ? 1 : -1;
  if (is_angular(x, n)) return std::cos(static_cast<double>(n) * std::acos(x));
  return chebyshev_recurrence(x, n, x);
}
/// sin((n + 1) t) / sin(t), where x = cos(t).
HEARTH_SCALAR double chebyshev_polynomial_u(double x, double degree) {
  const long long n = degree_of(degree);
  if (std::fabs(x) == 1 && n >= 0)
    return static_cast<double>(n + 1) * (x > 0 || n % 2 == 0 ? 1 : -1);
  if (is_angular(x, n)) {
    const double t = std::acos(x);
    return std::sin(static_cast<double>(n + 1) * t) / std::sin(t);
  }
  return chebyshev_recurrence(x, n, 2 * x);
}
/// cos((n + 1/2) t) / cos(t / 2), where x = cos(t).
HEARTH_SCALAR double chebyshev_polynomial_v(double x, double degree) {
  const long long n = degree_of(degree);
  if (std::fabs(x) == 1 && n >= 0)
    return x > 0 ? 1 : static_cast<double>(2 * n + 1) * (n % 2 == 0 ? 1 : -1);
  if (is_angular(x, n)) {
    const double t = std::acos(x);
    return std::cos((static_cast<double>(n) + 0.5) * t) / std::cos(t / 2);
  }
  return chebyshev_recurrence(x, n, 2 * x - 1);
}
/// sin((n + 1/2) t) / sin(t / 2), where x = cos(t).
HEARTH_SCALAR double chebyshev_polynomial_w(double x, double degree) {
  const long long n = degree_of(degree);
  if (std::fabs(x) == 1 && n >= 0)
    return x > 0 ? static_cast<double>(2 * n + 1) : n % 2 == 0 ? 1 : -1;
  if (is_angular(x, n)) {
    const double t = std::acos(x);
    return std::sin((static_cast<double>(n) + 0.5) * t) / std::sin(t / 2);
  }
  return chebyshev_recurrence(x, n, 2 * x + 1);
}

HEARTH_SCALAR double shifted_chebyshev_polynomial_t(double x, double n) {
  return chebyshev_polynomial_t(2 * x - 1, n);
}
HEARTH_SCALAR double shifted_chebyshev_polynomial_u(double x, double n) {
  return chebyshev_polynomial_u(2 * x - 1, n);
}
HEARTH_SCALAR double shifted_chebyshev_polynomial_v(double x, double n) {
  return chebyshev_polynomial_v(2 * x - 1, n);
}
HEARTH_SCALAR double shifted_chebyshev_polynomial_w(double x, double n) {
  return chebyshev_polynomial_w(2 * x - 1, n);
}

HEARTH_SCALAR double hermite_polynomial_h(double x, double n) {
  return recurrence(degree_of(n), 2 * x,
                    [x](double k, double p, double before) { return 2 * x * p - 2 * k * before; });
}
HEARTH_SCALAR double hermite_polynomial_he(double x, double n) {
  return recurrence(degree_of(n), x,
                    [x](double k, double p, double before) { return x * p - k * before; });
}
HEARTH_SCALAR double laguerre_polynomial_l(double x, double n) {
  return recurrence(degree_of(n), 1 - x, [x](double k, double p, double before) {
    return ((2 * k + 1 - x) * p - k * before) / (k + 1);
  });
}
HEARTH_SCALAR double legendre_polynomial_p(double x, double n) {
  return recurrence(degree_of(n), x, [x](double k, double p, double before) {
    return ((2 * k + 1) * x * p - k * before) / (k + 1);
  });
}

}  // namespace hearth::fn::special
