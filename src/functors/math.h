#pragma once

#include "functors/unary.h"

namespace hearth::fn {

inline constexpr double kLn2 = 0.69314718055994530942, kLn10 = 2.30258509299404568402,
                        kTwoInvSqrtPi = 1.12837916709551257390;

HEARTH_ANALYTIC_FUNCTION(Exp, exp, kFloat32, true, exp(x), (g * x))
HEARTH_ANALYTIC_FUNCTION(Exp2, exp2, kKeep, true, exp2(x), (g * (x * kLn2)))
HEARTH_ANALYTIC_FUNCTION(Expm1, expm1, kFloat32, true, expm1(x), (g * (x + 1)))
HEARTH_ANALYTIC_FUNCTION(Log, log, kFloat32, false, log(x), g / x)
HEARTH_ANALYTIC_FUNCTION(Log2, log2, kFloat32, false, log2(x), g / (x * kLn2))
HEARTH_ANALYTIC_FUNCTION(Log10, log10, kFloat32, false, log10(x), g / (x * kLn10))
HEARTH_ANALYTIC_FUNCTION(Log1p, log1p, kFloat32, false, log1p(x), g / (x + 1))
HEARTH_ANALYTIC_FUNCTION(Sqrt, sqrt, kKeep, true, sqrt(x), g / (2 * x))
HEARTH_ANALYTIC_FUNCTION(Rsqrt, rsqrt, kFloat32, true, rsqrt(x), (-0.5 * g * x * x * x))
HEARTH_FLOAT_FUNCTION(Erf, "erf", kKeep, false, erf(x), (g * (kTwoInvSqrtPi * exp(-(x * x)))))
HEARTH_FLOAT_FUNCTION(Erfc, "erfc", kKeep, false, erfc(x), (g * (-kTwoInvSqrtPi * exp(-(x * x)))))
HEARTH_FLOAT_FUNCTION(SpecialNdtr, "special_ndtr", kKeep, false, special_ndtr(x),
                      (g * detail::normal_density(x)))

namespace detail {

/// The inverse of erf at a >= 0: Winitzki's approximation (c is his constant), then two steps of
/// Halley's method. Above 1/2 they use erfc and 1 - a, which is more precise.
template <class V>
HEARTH_FN V erfinv_of_magnitude(V a) {
  const double c = 0.147, two_over_pi = 0.63661977236758134308;
  const V l = log1p(-a * a);
  const V t = two_over_pi / c + 0.5 * l;
  V y = sqrt(-l / c / (sqrt(t * t - l / c) + t));
  for (int step = 0; step < 2; ++step) {
    const V excess = select(a > 0.5, (1 - a) - erfc(y), erf(y) - a);
    const V u = excess * exp(y * y) / kTwoInvSqrtPi;
    y = y - u / (1 + y * u);
  }
  return select(a == 1, 1 / (1 - a), y);
}

template <class V>
HEARTH_FN V erfinv(V x) {
  const V magnitude = erfinv_of_magnitude(abs(x));
  return select(x == 0, x, select(x < 0, -magnitude, magnitude));
}

}  // namespace detail

HEARTH_FLOAT_FUNCTION(Erfinv, "erfinv", kFloat32, true, detail::erfinv(x),
                      (g * (exp(x * x) / kTwoInvSqrtPi)))

/// a * log(b); 0 where a is 0 and b is not NaN.
struct Xlogy {
  static constexpr OpInfo info{
      .name = "xlogy", .dtypes = dtypes::kFloating, .promote = Promote::kFloat};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return select((a == 0) & !isnan(b), 0, a * log(b));
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    const auto none = (a == 0) & (b <= 0);
    return select(none, 0, g * log(select(none, 1, b)));
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return g * (a / b);
  }
};

/// log(x / (1 - x)); if eps >= 0, x is first clamped to [eps, 1 - eps].
struct Logit {
  static constexpr OpInfo info{
      .name = "logit", .dtypes = dtypes::kFloating, .promote = Promote::kFloat};
  double eps = -1;
  HEARTH_FIELDS(eps)
  template <class V>
  HEARTH_FN V value(V x) const {
    if (eps < 0) return log(x / (1 - x));
    const V low = eps, high = 1 - low;
    const V p = select(x < low, low, select(x > high, high, x));
    return log(p / (1 - p));
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    const V low = eps < 0 ? 0 : eps;
    const auto outside = (x < low) | (x > 1 - low);
    const V safe = select(outside, 0.5, x), beyond = eps < 0 ? __builtin_nan("") : 0;
    return select(outside, beyond, g / (safe * (1 - safe)));
  }
};

/// -x * log(x); 0 at 0, minus infinity for x < 0.
struct SpecialEntr {
  static constexpr OpInfo info{
      .name = "special_entr", .dtypes = dtypes::kFloating, .promote = Promote::kFloat};
  template <class V>
  HEARTH_FN V value(V x) const {
    return select(x == 0, 0, select(x < 0, -__builtin_huge_val(), -x * log(x)));
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return -g * (log(x) + 1);
  }
};

/// a * log(1 + b); 0 where a is 0 and b is not NaN.
struct SpecialXlog1py {
  static constexpr OpInfo info{
      .name = "special_xlog1py", .dtypes = dtypes::kFloating, .promote = Promote::kFloat};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return select((a == 0) & !isnan(b), 0, a * log1p(b));
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    const auto none = (a == 0) & (b <= -1);
    return select(none, 0, g * log1p(select(none, 0, b)));
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return g * (a / (b + 1));
  }
};

/// sin(pi x) / (pi x), computed from the sine of pi times the distance to the nearest integer.
struct Sinc {
  static constexpr OpInfo info{
      .name = "sinc", .dtypes = dtypes::kFloating, .promote = Promote::kFloat};
  static constexpr double kPi = 3.14159265358979323846;
  /// y, or -y if the integer nearest to x is odd.
  template <class V>
  HEARTH_FN static V turned(V x, V y) {
    const V half = 0.5 * round(x);
    return select(half == floor(half), y, -y);
  }
  template <class V>
  HEARTH_FN V value(V x) const {
    return select(x == 0, 1, turned(x, sin(kPi * (x - round(x)))) / (kPi * x));
  }
  /// Uses the power series near 0, where cos(pi x) - sinc(x) would cancel.
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    const auto near = abs(x) < 0.25;
    const V angle = kPi * select(near, x, 0), square = angle * angle, safe = select(near, 1, x);
    V series = 1;
    for (int k = 7; k > 0; --k) series = 1 - square * (1.0 / (2 * k * (2 * k + 3))) * series;
    const V far = (turned(safe, cos(kPi * (safe - round(safe)))) - value(safe)) / safe;
    return g * select(near, (-kPi / 3) * angle * series, far);
  }
};

/// log(e^a + e^b) and log2(2^a + 2^b) without overflow. Two equal infinities give this infinity.
#define HEARTH_LOG_OF_SUM(Name, op_name, power, factor)                         \
  struct Name {                                                                 \
    static constexpr OpInfo info{.name = op_name, .dtypes = dtypes::kFloating}; \
    template <class V>                                                          \
    HEARTH_FN V value(V a, V b) const {                                         \
      const auto same = (a == b) & isinf(a);                                    \
      const V distance = abs(select(same, 0, a) - select(same, 0, b));          \
      return select(same, a, maximum(a, b) + log1p(power(-distance)) * factor); \
    }                                                                           \
    template <class V>                                                          \
    HEARTH_FN V grad_a(V g, V a, V b) const {                                   \
      return g / (1 + power(b - a));                                            \
    }                                                                           \
    template <class V>                                                          \
    HEARTH_FN V grad_b(V g, V a, V b) const {                                   \
      return g / (1 + power(a - b));                                            \
    }                                                                           \
  };
HEARTH_LOG_OF_SUM(LogAddExp, "logaddexp", exp, 1)
HEARTH_LOG_OF_SUM(LogAddExp2, "logaddexp2", exp2, (1 / kLn2))
#undef HEARTH_LOG_OF_SUM

/// A rounding function, whose gradient is zero.
#define HEARTH_ROUNDING(Name, function)                                       \
  struct Name {                                                               \
    static constexpr OpInfo info{.name = #function, .dtypes = dtypes::kReal}; \
    template <class V>                                                        \
    HEARTH_FN V value(V x) const {                                            \
      return function(x);                                                     \
    }                                                                         \
    template <class V>                                                        \
    HEARTH_FN V grad(V g, V) const {                                          \
      return zero_like(g);                                                    \
    }                                                                         \
  };
HEARTH_ROUNDING(Floor, floor)
HEARTH_ROUNDING(Ceil, ceil)
HEARTH_ROUNDING(Round, round)
HEARTH_ROUNDING(Trunc, trunc)
#undef HEARTH_ROUNDING

/// round(x * up / down) * down / up, which rounds to decimals: up and down are powers of ten, and
/// one of them is 1.
struct RoundDecimals {
  static constexpr OpInfo info{
      .name = "round", .overload = "decimals", .dtypes = dtypes::kFloating};
  double up = 1, down = 1;
  HEARTH_FIELDS(up, down)
  template <class V>
  HEARTH_FN V value(V x) const {
    return round(x * up / down) * down / up;
  }
  template <class V>
  HEARTH_FN V grad(V g, V) const {
    return zero_like(g);
  }
};

/// x - trunc(x).
struct Frac {
  static constexpr OpInfo info{.name = "frac", .dtypes = dtypes::kFloating};
  template <class V>
  HEARTH_FN V value(V x) const {
    return x - trunc(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V) const {
    return g;
  }
};

/// x, with NaN and infinities replaced by numbers.
struct NanToNum {
  static constexpr OpInfo info{.name = "nan_to_num", .dtypes = dtypes::kRealAndBool};
  double nan = 0, posinf = 0, neginf = 0;
  HEARTH_FIELDS(nan, posinf, neginf)
  template <class V>
  HEARTH_FN V value(V x) const {
    if constexpr (V::kIntegral)
      return x;
    else
      return select(isnan(x), nan, select(isinf(x), select(x > 0, V(posinf), V(neginf)), x));
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return select(isnan(x) | isinf(x), 0, g);
  }
};

/// |a| with the sign bit of b, also if b is a zero or NaN.
struct Copysign {
  static constexpr OpInfo info{
      .name = "copysign", .dtypes = dtypes::kFloating, .promote = Promote::kFloat};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    const V magnitude = abs(a);
    return select(signbit(b), -magnitude, magnitude);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    const V ratio = value(a, b) / select(a == 0, 1, a);
    return select(a == 0, 0, g * ratio);
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V, V) const {
    return zero_like(g);
  }
};

using Math = List<Exp, Exp2, Expm1, Log, Log2, Log10, Log1p, Sqrt, Rsqrt, Erf, Erfc, SpecialNdtr,
                  Erfinv, Xlogy, Logit, SpecialEntr, SpecialXlog1py, Sinc, Floor, Ceil, Round,
                  RoundDecimals, Trunc, Frac, NanToNum, LogAddExp, LogAddExp2, Copysign>;
HEARTH_NUMBER_FAMILY(Math)

}  // namespace hearth::fn
