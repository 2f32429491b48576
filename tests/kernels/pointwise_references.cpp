#include "tests/kernels/pointwise_references.h"

#include <cmath>
#include <limits>
#include <map>

namespace hearth::test {
namespace {

using L = long double;

constexpr L kPi = 3.14159265358979323846264338327950288L;

L nan() { return std::numeric_limits<L>::quiet_NaN(); }
L maximum_of(L a, L b) { return std::isnan(a) || std::isnan(b) ? nan() : a > b ? a : b; }
L minimum_of(L a, L b) { return std::isnan(a) || std::isnan(b) ? nan() : a < b ? a : b; }
L normal_cdf(L x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; }
L sigmoid(L x) { return 1 / (1 + std::exp(-x)); }
L log_sigmoid(L x) { return minimum_of(x, 0) - std::log1p(std::exp(-std::fabs(x))); }

/// The inverse of erf, by bisection.
L erfinv(L x) {
  if (!(std::fabs(x) <= 1)) return nan();
  if (std::fabs(x) == 1) return x * std::numeric_limits<L>::infinity();
  const L a = std::fabs(x);
  L low = 0, high = 30;
  for (int i = 0; i < 200; ++i) {
    const L middle = (low + high) / 2;
    const bool below = a > 0.5L ? std::erfc(middle) > 1 - a : std::erf(middle) < a;
    (below ? low : high) = middle;
  }
  return x == 0 ? x : std::copysign(low, x);
}

/// The remainder with the sign of b.
L modulo(L a, L b) {
  const L rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// a / b rounded down, from the exact remainder.
L floored(L a, L b) {
  if (b == 0) return a / b;
  const L rest = std::fmod(a, b);
  const L whole = std::nearbyint((a - rest) / b);
  return rest != 0 && (rest < 0) != (b < 0) ? whole - 1 : whole;
}

long long bits(L x) { return static_cast<long long>(x); }

L cross_entropy(L a, L b) {
  return -(b * maximum_of(std::log(a), -100) + (1 - b) * maximum_of(std::log1p(-a), -100));
}
L absolute_error(L a, L b) { return std::fabs(a - b); }
L smooth_error(L a, L b) {
  const L d = absolute_error(a, b);
  return d < 1 ? d * d / 2 : d - 0.5L;
}

using Table = std::map<std::string, PointwiseReference>;
#define HEARTH_OF(name, formula)                  \
  {                                               \
    name, [](const L* x) -> L { return formula; } \
  }

Table activations() {
  return {HEARTH_OF("gelu", x[0] * normal_cdf(x[0])),
          HEARTH_OF("gelu.tanh", x[0] * sigmoid(2 * std::sqrt(2 / kPi) *
                                                (x[0] + 0.044715L * x[0] * x[0] * x[0]))),
          HEARTH_OF("sigmoid", sigmoid(x[0])),
          HEARTH_OF("relu", maximum_of(x[0], 0)),
          HEARTH_OF("silu", x[0] * sigmoid(x[0])),
          HEARTH_OF("elu", x[0] > 0 ? x[0] : std::expm1(x[0])),
          HEARTH_OF("leaky_relu", x[0] > 0 ? x[0] : 0.01L * x[0]),
          HEARTH_OF("softplus", x[0] > 20 ? x[0] : std::log1p(std::exp(x[0]))),
          HEARTH_OF("log_sigmoid", log_sigmoid(x[0])),
          HEARTH_OF("hardsigmoid", minimum_of(maximum_of(x[0] + 3, 0), 6) / 6),
          HEARTH_OF("hardswish", x[0] * minimum_of(maximum_of(x[0] + 3, 0), 6) / 6),
          HEARTH_OF("hardtanh", minimum_of(maximum_of(x[0], 1), 1)),
          HEARTH_OF("mish", x[0] * std::tanh(std::log1p(std::exp(x[0])))),
          HEARTH_OF("threshold", x[0] <= 1 ? 1 : x[0]),
          HEARTH_OF("softsign", x[0] / (1 + std::fabs(x[0]))),
          HEARTH_OF("hardshrink", std::fabs(x[0]) <= 0.5L ? 0 : x[0]),
          HEARTH_OF("softshrink", x[0] - minimum_of(maximum_of(x[0], -0.5L), 0.5L)),
          HEARTH_OF("prelu", x[0] > 0 ? x[0] : x[1] * x[0]),
          HEARTH_OF("glu", x[0] * sigmoid(x[1]))};
}

Table arithmetic() {
  return {HEARTH_OF("copy", x[0]),
          HEARTH_OF("add", x[0] + 3 * x[1]),
          HEARTH_OF("sub", x[0] - 3 * x[1]),
          HEARTH_OF("mul", x[0] * x[1]),
          HEARTH_OF("neg", -x[0]),
          HEARTH_OF("abs", std::fabs(x[0])),
          HEARTH_OF("where", x[0] != 0 ? x[1] : x[2]),
          HEARTH_OF("masked_fill", x[1] != 0 ? x[2] : x[0]),
          HEARTH_OF("pow", std::pow(x[0], x[1])),
          HEARTH_OF("pow.half", std::sqrt(x[0])),
          HEARTH_OF("pow.minus_half", 1 / std::sqrt(x[0])),
          HEARTH_OF("pow.square", x[0] * x[0]),
          HEARTH_OF("pow.cube", x[0] * x[0] * x[0]),
          HEARTH_OF("sign", L(x[0] > 0) - L(x[0] < 0)),
          HEARTH_OF("lerp", std::fabs(x[2]) < 0.5L ? x[0] + x[2] * (x[1] - x[0])
                                                   : x[1] - (x[1] - x[0]) * (1 - x[2])),
          HEARTH_OF("addcmul", x[0] + x[1] * x[2]),
          HEARTH_OF("addcdiv", x[0] + x[1] / x[2]),
          HEARTH_OF("heaviside", x[0] == 0 ? x[1] : L(x[0] > 0)),
          HEARTH_OF("div", x[0] / x[1]),
          HEARTH_OF("reciprocal", 1 / x[0]),
          HEARTH_OF("fmod", std::fmod(x[0], x[1])),
          HEARTH_OF("remainder", modulo(x[0], x[1])),
          HEARTH_OF("div.trunc", std::trunc(x[0] / x[1])),
          HEARTH_OF("div.floor", floored(x[0], x[1])),
          HEARTH_OF("floor_divide", floored(x[0], x[1]))};
}

Table bounds_and_predicates() {
  return {
      HEARTH_OF("maximum", maximum_of(x[0], x[1])),
      HEARTH_OF("minimum", minimum_of(x[0], x[1])),
      HEARTH_OF("clamp_min", maximum_of(x[0], x[1])),
      HEARTH_OF("clamp_max", minimum_of(x[0], x[1])),
      HEARTH_OF("clamp_min.number", maximum_of(x[0], x[1])),
      HEARTH_OF("clamp_max.number", minimum_of(x[0], x[1])),
      HEARTH_OF("fmax", std::fmax(x[0], x[1])),
      HEARTH_OF("fmin", std::fmin(x[0], x[1])),
      HEARTH_OF("clamp", minimum_of(maximum_of(x[0], x[1]), x[2])),
      HEARTH_OF("clamp.number", minimum_of(maximum_of(x[0], x[1]), x[2])),
      HEARTH_OF("eq", x[0] == x[1]),
      HEARTH_OF("ne", x[0] != x[1]),
      HEARTH_OF("lt", x[0] < x[1]),
      HEARTH_OF("le", x[0] <= x[1]),
      HEARTH_OF("gt", x[0] > x[1]),
      HEARTH_OF("ge", x[0] >= x[1]),
      HEARTH_OF("isnan", std::isnan(x[0])),
      HEARTH_OF("isinf", std::isinf(x[0])),
      HEARTH_OF("isfinite", std::isfinite(x[0])),
      HEARTH_OF("isposinf", std::isinf(x[0]) && x[0] > 0),
      HEARTH_OF("isneginf", std::isinf(x[0]) && x[0] < 0),
      HEARTH_OF("signbit", std::signbit(x[0])),
      HEARTH_OF("logical_and", x[0] != 0 && x[1] != 0),
      HEARTH_OF("logical_or", x[0] != 0 || x[1] != 0),
      HEARTH_OF("logical_xor", (x[0] != 0) != (x[1] != 0)),
      HEARTH_OF("logical_not", x[0] == 0),
      HEARTH_OF("bitwise_and", L(bits(x[0]) & bits(x[1]))),
      HEARTH_OF("bitwise_or", L(bits(x[0]) | bits(x[1]))),
      HEARTH_OF("bitwise_xor", L(bits(x[0]) ^ bits(x[1]))),
      HEARTH_OF("bitwise_not", L(~bits(x[0]))),
      HEARTH_OF("bitwise_left_shift", x[1] < 0 || x[1] > 7 ? nan() : std::ldexp(x[0], int(x[1]))),
      HEARTH_OF("bitwise_right_shift",
                x[1] < 0 || x[1] > 7 ? nan() : std::floor(std::ldexp(x[0], -int(x[1]))))};
}

Table functions() {
  return {HEARTH_OF("exp", std::exp(x[0])),
          HEARTH_OF("exp2", std::exp2(x[0])),
          HEARTH_OF("expm1", std::expm1(x[0])),
          HEARTH_OF("log", std::log(x[0])),
          HEARTH_OF("log2", std::log2(x[0])),
          HEARTH_OF("log10", std::log10(x[0])),
          HEARTH_OF("log1p", std::log1p(x[0])),
          HEARTH_OF("sqrt", std::sqrt(x[0])),
          HEARTH_OF("rsqrt", 1 / std::sqrt(x[0])),
          HEARTH_OF("erf", std::erf(x[0])),
          HEARTH_OF("erfc", std::erfc(x[0])),
          HEARTH_OF("special_ndtr", normal_cdf(x[0])),
          HEARTH_OF("erfinv", erfinv(x[0])),
          HEARTH_OF("xlogy", x[0] == 0 && !std::isnan(x[1]) ? 0 : x[0] * std::log(x[1])),
          HEARTH_OF("floor", std::floor(x[0])),
          HEARTH_OF("ceil", std::ceil(x[0])),
          HEARTH_OF("round", std::nearbyint(x[0])),
          HEARTH_OF("round.decimals", std::nearbyint(x[0])),
          HEARTH_OF("trunc", std::trunc(x[0])),
          HEARTH_OF("frac", x[0] - std::trunc(x[0])),
          HEARTH_OF("nan_to_num", std::isfinite(x[0]) ? x[0] : 0),
          HEARTH_OF("sin", std::sin(x[0])),
          HEARTH_OF("cos", std::cos(x[0])),
          HEARTH_OF("tan", std::tan(x[0])),
          HEARTH_OF("asin", std::asin(x[0])),
          HEARTH_OF("acos", std::acos(x[0])),
          HEARTH_OF("atan", std::atan(x[0])),
          HEARTH_OF("sinh", std::sinh(x[0])),
          HEARTH_OF("cosh", std::cosh(x[0])),
          HEARTH_OF("tanh", std::tanh(x[0])),
          HEARTH_OF("asinh", std::asinh(x[0])),
          HEARTH_OF("acosh", std::acosh(x[0])),
          HEARTH_OF("atanh", std::atanh(x[0])),
          HEARTH_OF("atan2", std::atan2(x[0], x[1])),
          HEARTH_OF("hypot", std::hypot(x[0], x[1])),
          HEARTH_OF("deg2rad", x[0] * kPi / 180),
          HEARTH_OF("rad2deg", x[0] * 180 / kPi)};
}

Table losses() {
  return {HEARTH_OF("mse_loss", (x[0] - x[1]) * (x[0] - x[1])),
          HEARTH_OF("l1_loss", absolute_error(x[0], x[1])),
          HEARTH_OF("smooth_l1_loss", smooth_error(x[0], x[1])),
          HEARTH_OF("huber_loss", smooth_error(x[0], x[1])),
          HEARTH_OF("binary_cross_entropy", cross_entropy(x[0], x[1])),
          HEARTH_OF("binary_cross_entropy_with_logits", (1 - x[1]) * x[0] - log_sigmoid(x[0])),
          HEARTH_OF("binary_cross_entropy_with_logits.weighted",
                    (1 - x[1]) * x[0] - (1 + (x[2] - 1) * x[1]) * log_sigmoid(x[0])),
          HEARTH_OF("kl_div", x[1] == 0 ? -x[1] * x[0] : x[1] * std::log(x[1]) - x[1] * x[0]),
          HEARTH_OF("kl_div.log_target", std::exp(x[1]) * (x[1] - x[0])),
          HEARTH_OF("soft_margin_loss", -log_sigmoid(x[0] * x[1]))};
}
#undef HEARTH_OF

}  // namespace

PointwiseReference pointwise_reference(const std::string& full_name) {
  static const Table all = [] {
    Table table;
    for (Table part : {activations(), arithmetic(), bounds_and_predicates(), functions(), losses()})
      table.merge(part);
    return table;
  }();
  const auto found = all.find(full_name);
  return found == all.end() ? nullptr : found->second;
}

}  // namespace hearth::test
