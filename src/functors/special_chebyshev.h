#pragma once

#include <cmath>

#include "functors/hd.h"

/// Marks a function of doubles that CPU and CUDA kernels call.
#if defined(__CUDACC__)
#define HEARTH_SCALAR __host__ __device__ inline
#else
#define HEARTH_SCALAR inline
#endif

namespace hearth::fn::special {

inline constexpr double kPi = 3.14159265358979323846;

/// A number as the sum of two doubles.
struct TwoParts {
  double high, low;
};

/// x - c without rounding c.
HEARTH_SCALAR double minus(double x, TwoParts c) { return (x - c.high) - c.low; }

/// The sum of c[k] T_k(t), with Chebyshev's polynomials T_k and t in [-1, 1], by Clenshaw's
/// recurrence.
template <int n>
HEARTH_SCALAR double chebyshev(double t, const double (&c)[n]) {
  double b = 0, next = 0;
  for (int k = n - 1; k > 0; --k) {
    const double b_k = 2 * t * b - next + c[k];
    next = b;
    b = b_k;
  }
  return t * b - next + c[0];
}

/// c[0] + c[1] x + c[2] x^2 + ...
template <int n>
HEARTH_SCALAR double polynomial(double x, const double (&c)[n]) {
  double sum = 0;
  for (int k = n - 1; k >= 0; --k) sum = sum * x + c[k];
  return sum;
}

/// x minus the nearest integer.
HEARTH_SCALAR double off_integer(double x) { return x - std::nearbyint(x); }

}  // namespace hearth::fn::special
