#pragma once

#include "functors/unary.h"

namespace hearth::fn {

inline constexpr double kRadian = 0.01745329251994329577, kDegree = 57.29577951308232087680;

namespace detail {

/// The value at x of an odd function whose value at |x| is `positive`.
template <class V>
HEARTH_FN V odd(V x, V positive) {
  return select(x == 0, x, select(x < 0, -positive, positive));
}

/// Above this, x² + 1 and x² - 1 round to x², whose square root is x.
inline constexpr double kLarge = 268435456, kLn2 = 0.69314718055994530942;

template <class V>
HEARTH_FN V asinh(V x) {
  const V a = abs(x);
  const V square = a * a;
  return odd(x, select(a > kLarge, log(a) + kLn2, log1p(a + square / (1 + sqrt(square + 1)))));
}

template <class V>
HEARTH_FN V acosh(V x) {
  const V t = x - 1;
  return select(x > kLarge, log(x) + kLn2, log1p(t + sqrt(t) * sqrt(t + 2)));
}

template <class V>
HEARTH_FN V atanh(V x) {
  const V a = abs(x);
  return odd(x, 0.5 * log1p(2 * a / (1 - a)));
}

}  // namespace detail

// RealAsin, RealAcos, RealAsinh and RealAcosh have the derivatives of real numbers; the structs
// Asin, Acos, Asinh and Acosh below add those of complex numbers.
HEARTH_ANALYTIC_FUNCTION(Sin, sin, kKeep, false, sin(x), (g * cos(x)))
HEARTH_ANALYTIC_FUNCTION(Cos, cos, kKeep, false, cos(x), -(g* sin(x)))
HEARTH_ANALYTIC_FUNCTION(Tan, tan, kFloat32, true, sin(x) / cos(x), (g * (1 + x * x)))
HEARTH_ANALYTIC_FUNCTION(RealAsin, asin, kFloat32, false, atan2(x, sqrt((1 - x) * (1 + x))),
                         (g * rsqrt(1 - x * x)))
HEARTH_ANALYTIC_FUNCTION(RealAcos, acos, kFloat32, false, atan2(sqrt((1 - x) * (1 + x)), x),
                         (-g * rsqrt(1 - x * x)))
HEARTH_ANALYTIC_FUNCTION(Atan, atan, kKeep, false, atan2(x, V(1)), g / (x * x + 1))
HEARTH_ANALYTIC_FUNCTION(Sinh, sinh, kFloat32, false, sinh(x), (g * cosh(x)))
HEARTH_ANALYTIC_FUNCTION(Cosh, cosh, kFloat32, false, cosh(x), (g * sinh(x)))
HEARTH_ANALYTIC_FUNCTION(Tanh, tanh, kKeep, true, tanh(x), (g * (1 - x * x)))
HEARTH_ANALYTIC_FUNCTION(Atanh, atanh, kKeep, false, detail::atanh(x), g / (1 - x * x))
HEARTH_ANALYTIC_FUNCTION(RealAsinh, asinh, kKeep, false, detail::asinh(x), (g * rsqrt(x * x + 1)))
HEARTH_ANALYTIC_FUNCTION(RealAcosh, acosh, kKeep, false, detail::acosh(x), (g * rsqrt(x * x - 1)))
/// conj(f(conj(x))) instead of f(x) = rsqrt(x² + 1): on the branch cuts, the imaginary zeros of the
/// squares of x and conj(x) have different signs.
struct Asinh : RealAsinh {
  template <class V>
  HEARTH_FN V complex_grad(V g, V x) const {
    return g * conj(rsqrt(conj(x) * conj(x) + 1));
  }
};
/// The derivatives on the branch cuts depend on the sign of the imaginary zero, which x + 1 and
/// 1 - x lose: they add 0 to -0. x - (-1) and -(x - 1) keep it.
struct Asin : RealAsin {
  template <class V>
  HEARTH_FN V complex_grad(V g, V x) const {
    return g * (rsqrt(-(x - 1)) * rsqrt(x - V(-1)));
  }
};
struct Acos : RealAcos {
  template <class V>
  HEARTH_FN V complex_grad(V g, V x) const {
    return -g * (rsqrt(-(x - 1)) * rsqrt(x - V(-1)));
  }
};
/// For half of the complex numbers the root of x² - 1 has the wrong sign.
struct Acosh : RealAcosh {
  template <class V>
  HEARTH_FN V complex_grad(V g, V x) const {
    return g * (rsqrt(x - V(-1)) * rsqrt(x - 1));
  }
};
HEARTH_FLOAT_FUNCTION(Deg2Rad, "deg2rad", kKeep, false, kRadian* x, kRadian* g)
HEARTH_FLOAT_FUNCTION(Rad2Deg, "rad2deg", kKeep, false, x* kDegree, g* kDegree)

/// The angle of the point (b, a); at (0, 0) its gradient is 0.
struct Atan2 {
  static constexpr OpInfo info{.name = "atan2",
                               .dtypes = dtypes::kFloating,
                               .promote = Promote::kFloat,
                               .amp = Amp::kWidest,
                               .amp_cpu = Amp::kKeep};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return atan2(a, b);
  }
  /// a² + b²; 1 where that is 0, so that the gradient at the origin is 0.
  template <class V>
  HEARTH_FN static V square(V a, V b) {
    const V d = a * a + b * b;
    return select(d == 0, 1, d);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    return g * (b / square(a, b));
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return g * (-a / square(a, b));
  }
};

/// sqrt(a² + b²) without intermediate overflow. TensorValue has its own overload: the derivatives
/// of this formula are wrong where |a| = |b|.
template <class V>
HEARTH_FN V hypotenuse(V a, V b) {
  const V x = maximum(abs(a), abs(b)), y = minimum(abs(a), abs(b));
  const V ratio = select(y == 0, 0, y / x);
  const V result = x * sqrt(1 + ratio * ratio);
  return select(isinf(a), abs(a), select(isinf(b), abs(b), result));
}
struct Hypot {
  static constexpr OpInfo info{.name = "hypot", .dtypes = dtypes::kFloating};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return hypotenuse(a, b);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    return g * (a / hypotenuse(a, b));
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return g * (b / hypotenuse(a, b));
  }
};

using Trig = List<Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Asinh, Acosh, Atanh, Atan2,
                  Hypot, Deg2Rad, Rad2Deg>;
HEARTH_NUMBER_FAMILY(Trig)

}  // namespace hearth::fn
