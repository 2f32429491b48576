#include "tests/kernels/pointwise_references.h"

#include <cmath>
#include <limits>
#include <map>

namespace hearth::testing {
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
    const bool is_below = a > 0.5L ? std::erfc(middle) > 1 - a : std::erf(middle) < a;
    (is_below ? low : high) = middle;
  }
  return x == 0 ? x : std::copysign(low, x);
}

/// sin(pi x) / (pi x), from the distance to the nearest even integer.
L sinc(L x) { return x == 0 ? 1 : std::sin(kPi * std::remainder(x, 2.0L)) / (kPi * x); }

/// The remainder with the sign of b.
L modulo(L a, L b) {
  const L rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// a / b rounded down, from the exact remainder.
L floor_quotient(L a, L b) {
  if (b == 0) return a / b;
  const L rest = std::fmod(a, b);
  const L whole = std::nearbyint((a - rest) / b);
  return rest != 0 && (rest < 0) != (b < 0) ? whole - 1 : whole;
}

/// log(e^(unit a) + e^(unit b)) / unit.
L log_of_sum(L a, L b, L unit) {
  if (a == b && std::isinf(a)) return a;
  return maximum_of(a, b) + std::log1p(std::exp(-unit * std::fabs(a - b))) / unit;
}

long long as_integer(L x) { return static_cast<long long>(x); }

L cross_entropy(L a, L b) {
  return -(b * maximum_of(std::log(a), -100) + (1 - b) * maximum_of(std::log1p(-a), -100));
}
L absolute_error(L a, L b) { return std::fabs(a - b); }
L smooth_error(L a, L b) {
  const L d = absolute_error(a, b);
  return d < 1 ? d * d / 2 : d - 0.5L;
}

using Table = std::map<std::string, PointwiseReference>;
#define HEARTH_REFERENCE(name, formula)           \
  {                                               \
    name, [](const L* x) -> L { return formula; } \
  }

Table activations() {
  return {HEARTH_REFERENCE("gelu", x[0] * normal_cdf(x[0])),
          HEARTH_REFERENCE("gelu.tanh", x[0] * sigmoid(2 * std::sqrt(2 / kPi) *
                                                       (x[0] + 0.044715L * x[0] * x[0] * x[0]))),
          HEARTH_REFERENCE("sigmoid", sigmoid(x[0])),
          HEARTH_REFERENCE("relu", maximum_of(x[0], 0)),
          HEARTH_REFERENCE("silu", x[0] * sigmoid(x[0])),
          HEARTH_REFERENCE("elu", x[0] > 0 ? x[0] : std::expm1(x[0])),
          HEARTH_REFERENCE("leaky_relu", x[0] > 0 ? x[0] : 0.01L * x[0]),
          HEARTH_REFERENCE("softplus", x[0] > 20 ? x[0] : std::log1p(std::exp(x[0]))),
          HEARTH_REFERENCE("log_sigmoid", log_sigmoid(x[0])),
          HEARTH_REFERENCE("hardsigmoid", minimum_of(maximum_of(x[0] + 3, 0), 6) / 6),
          HEARTH_REFERENCE("hardswish", x[0] * minimum_of(maximum_of(x[0] + 3, 0), 6) / 6),
          HEARTH_REFERENCE("hardtanh", minimum_of(maximum_of(x[0], 1), 3)),
          HEARTH_REFERENCE("mish", x[0] * std::tanh(std::log1p(std::exp(x[0])))),
          HEARTH_REFERENCE("threshold", x[0] <= 1 ? 3 : x[0]),
          HEARTH_REFERENCE("softsign", x[0] / (1 + std::fabs(x[0]))),
          HEARTH_REFERENCE("hardshrink", std::fabs(x[0]) <= 0.5L ? 0 : x[0]),
          HEARTH_REFERENCE("softshrink", x[0] - minimum_of(maximum_of(x[0], -0.5L), 0.5L)),
          HEARTH_REFERENCE("_prelu_kernel", x[0] > 0 ? x[0] : x[1] * x[0]),
          HEARTH_REFERENCE("glu", x[0] * sigmoid(x[1]))};
}

Table arithmetic() {
  return {HEARTH_REFERENCE("copy", x[0]),
          HEARTH_REFERENCE("add", x[0] + 3 * x[1]),
          HEARTH_REFERENCE("sub", x[0] - 3 * x[1]),
          HEARTH_REFERENCE("mul", x[0] * x[1]),
          HEARTH_REFERENCE("neg", -x[0]),
          HEARTH_REFERENCE("abs", std::fabs(x[0])),
          HEARTH_REFERENCE("where", x[0] != 0 ? x[1] : x[2]),
          HEARTH_REFERENCE("masked_fill", x[1] != 0 ? x[2] : x[0]),
          HEARTH_REFERENCE("pow", std::pow(x[0], x[1])),
          HEARTH_REFERENCE("pow.sqrt", std::sqrt(x[0])),
          HEARTH_REFERENCE("pow.rsqrt", 1 / std::sqrt(x[0])),
          HEARTH_REFERENCE("pow.square", x[0] * x[0]),
          HEARTH_REFERENCE("pow.cube", x[0] * x[0] * x[0]),
          HEARTH_REFERENCE("sign", L(x[0] > 0) - L(x[0] < 0)),
          HEARTH_REFERENCE("lerp", std::fabs(x[2]) < 0.5L ? x[0] + x[2] * (x[1] - x[0])
                                                          : x[1] - (x[1] - x[0]) * (1 - x[2])),
          HEARTH_REFERENCE("addcmul", x[0] + x[1] * x[2]),
          HEARTH_REFERENCE("addcdiv", x[0] + x[1] / x[2]),
          HEARTH_REFERENCE("heaviside", x[0] == 0 ? x[1] : L(x[0] > 0)),
          HEARTH_REFERENCE("div", x[0] / x[1]),
          HEARTH_REFERENCE("reciprocal", 1 / x[0]),
          HEARTH_REFERENCE("fmod", std::fmod(x[0], x[1])),
          HEARTH_REFERENCE("remainder", modulo(x[0], x[1])),
          HEARTH_REFERENCE("div.trunc", std::trunc(x[0] / x[1])),
          HEARTH_REFERENCE("div.floor", floor_quotient(x[0], x[1])),
          HEARTH_REFERENCE("floor_divide", floor_quotient(x[0], x[1]))};
}

Table bounds_predicates_and_bits() {
  // Shifts by more than 7 depend on the dtype's width: the tests skip integers for which a
  // reference is NaN.
  return {
      HEARTH_REFERENCE("maximum", maximum_of(x[0], x[1])),
      HEARTH_REFERENCE("minimum", minimum_of(x[0], x[1])),
      HEARTH_REFERENCE("clamp_min", maximum_of(x[0], x[1])),
      HEARTH_REFERENCE("clamp_max", minimum_of(x[0], x[1])),
      HEARTH_REFERENCE("clamp_min.number", maximum_of(x[0], x[1])),
      HEARTH_REFERENCE("clamp_max.number", minimum_of(x[0], x[1])),
      HEARTH_REFERENCE("fmax", std::fmax(x[0], x[1])),
      HEARTH_REFERENCE("fmin", std::fmin(x[0], x[1])),
      HEARTH_REFERENCE("clamp", minimum_of(maximum_of(x[0], x[1]), x[2])),
      HEARTH_REFERENCE("clamp.number", minimum_of(maximum_of(x[0], x[1]), x[2])),
      HEARTH_REFERENCE("eq", x[0] == x[1]),
      HEARTH_REFERENCE("ne", x[0] != x[1]),
      HEARTH_REFERENCE("lt", x[0] < x[1]),
      HEARTH_REFERENCE("le", x[0] <= x[1]),
      HEARTH_REFERENCE("gt", x[0] > x[1]),
      HEARTH_REFERENCE("ge", x[0] >= x[1]),
      HEARTH_REFERENCE("isnan", std::isnan(x[0])),
      HEARTH_REFERENCE("isinf", std::isinf(x[0])),
      HEARTH_REFERENCE("isfinite", std::isfinite(x[0])),
      HEARTH_REFERENCE("isposinf", std::isinf(x[0]) && x[0] > 0),
      HEARTH_REFERENCE("isneginf", std::isinf(x[0]) && x[0] < 0),
      HEARTH_REFERENCE("signbit", std::signbit(x[0])),
      HEARTH_REFERENCE("logical_and", x[0] != 0 && x[1] != 0),
      HEARTH_REFERENCE("logical_or", x[0] != 0 || x[1] != 0),
      HEARTH_REFERENCE("logical_xor", (x[0] != 0) != (x[1] != 0)),
      HEARTH_REFERENCE("logical_not", x[0] == 0),
      HEARTH_REFERENCE("bitwise_and", L(as_integer(x[0]) & as_integer(x[1]))),
      HEARTH_REFERENCE("bitwise_or", L(as_integer(x[0]) | as_integer(x[1]))),
      HEARTH_REFERENCE("bitwise_xor", L(as_integer(x[0]) ^ as_integer(x[1]))),
      HEARTH_REFERENCE("bitwise_not", L(~as_integer(x[0]))),
      HEARTH_REFERENCE("bitwise_left_shift",
                       x[1] < 0 || x[1] > 7 ? nan() : std::ldexp(x[0], int(x[1]))),
      HEARTH_REFERENCE("bitwise_right_shift",
                       x[1] < 0 || x[1] > 7 ? nan() : std::floor(std::ldexp(x[0], -int(x[1]))))};
}

Table functions() {
  return {HEARTH_REFERENCE("exp", std::exp(x[0])),
          HEARTH_REFERENCE("exp2", std::exp2(x[0])),
          HEARTH_REFERENCE("expm1", std::expm1(x[0])),
          HEARTH_REFERENCE("log", std::log(x[0])),
          HEARTH_REFERENCE("log2", std::log2(x[0])),
          HEARTH_REFERENCE("log10", std::log10(x[0])),
          HEARTH_REFERENCE("log1p", std::log1p(x[0])),
          HEARTH_REFERENCE("sqrt", std::sqrt(x[0])),
          HEARTH_REFERENCE("rsqrt", 1 / std::sqrt(x[0])),
          HEARTH_REFERENCE("erf", std::erf(x[0])),
          HEARTH_REFERENCE("erfc", std::erfc(x[0])),
          HEARTH_REFERENCE("special_ndtr", normal_cdf(x[0])),
          HEARTH_REFERENCE("erfinv", erfinv(x[0])),
          HEARTH_REFERENCE("xlogy", x[0] == 0 && !std::isnan(x[1]) ? 0 : x[0] * std::log(x[1])),
          HEARTH_REFERENCE("logit", std::log(x[0] / (1 - x[0]))),
          HEARTH_REFERENCE("special_entr", x[0] < 0    ? -1 / L(0)
                                           : x[0] == 0 ? 0
                                                       : -x[0] * std::log(x[0])),
          HEARTH_REFERENCE("special_xlog1py",
                           x[0] == 0 && !std::isnan(x[1]) ? 0 : x[0] * std::log1p(x[1])),
          HEARTH_REFERENCE("sinc", sinc(x[0])),
          HEARTH_REFERENCE("floor", std::floor(x[0])),
          HEARTH_REFERENCE("ceil", std::ceil(x[0])),
          HEARTH_REFERENCE("round", std::nearbyint(x[0])),
          HEARTH_REFERENCE("round.decimals", std::nearbyint(x[0])),
          HEARTH_REFERENCE("trunc", std::trunc(x[0])),
          HEARTH_REFERENCE("frac", x[0] - std::trunc(x[0])),
          HEARTH_REFERENCE("nan_to_num", std::isfinite(x[0]) ? x[0] : 0),
          HEARTH_REFERENCE("logaddexp", log_of_sum(x[0], x[1], 1)),
          HEARTH_REFERENCE("logaddexp2", log_of_sum(x[0], x[1], std::log(L(2)))),
          HEARTH_REFERENCE("copysign", std::copysign(x[0], x[1])),
          HEARTH_REFERENCE("sin", std::sin(x[0])),
          HEARTH_REFERENCE("cos", std::cos(x[0])),
          HEARTH_REFERENCE("tan", std::tan(x[0])),
          HEARTH_REFERENCE("asin", std::asin(x[0])),
          HEARTH_REFERENCE("acos", std::acos(x[0])),
          HEARTH_REFERENCE("atan", std::atan(x[0])),
          HEARTH_REFERENCE("sinh", std::sinh(x[0])),
          HEARTH_REFERENCE("cosh", std::cosh(x[0])),
          HEARTH_REFERENCE("tanh", std::tanh(x[0])),
          HEARTH_REFERENCE("asinh", std::asinh(x[0])),
          HEARTH_REFERENCE("acosh", std::acosh(x[0])),
          HEARTH_REFERENCE("atanh", std::atanh(x[0])),
          HEARTH_REFERENCE("atan2", std::atan2(x[0], x[1])),
          HEARTH_REFERENCE("hypot", std::hypot(x[0], x[1])),
          HEARTH_REFERENCE("deg2rad", x[0] * kPi / 180),
          HEARTH_REFERENCE("rad2deg", x[0] * 180 / kPi)};
}

Table losses() {
  return {
      HEARTH_REFERENCE("mse_loss", (x[0] - x[1]) * (x[0] - x[1])),
      HEARTH_REFERENCE("l1_loss", absolute_error(x[0], x[1])),
      HEARTH_REFERENCE("smooth_l1_loss", smooth_error(x[0], x[1])),
      HEARTH_REFERENCE("huber_loss", smooth_error(x[0], x[1])),
      HEARTH_REFERENCE("binary_cross_entropy", cross_entropy(x[0], x[1])),
      HEARTH_REFERENCE("binary_cross_entropy_with_logits", (1 - x[1]) * x[0] - log_sigmoid(x[0])),
      HEARTH_REFERENCE("binary_cross_entropy_with_logits.weighted",
                       (1 - x[1]) * x[0] - (1 + (x[2] - 1) * x[1]) * log_sigmoid(x[0])),
      HEARTH_REFERENCE("kl_div", x[1] == 0 ? -x[1] * x[0] : x[1] * std::log(x[1]) - x[1] * x[0]),
      HEARTH_REFERENCE("kl_div.log_target", std::exp(x[1]) * (x[1] - x[0])),
      HEARTH_REFERENCE("soft_margin_loss", -log_sigmoid(x[0] * x[1]))};
}
#undef HEARTH_REFERENCE

}  // namespace

PointwiseReference pointwise_reference(const std::string& full_name) {
  static const Table references = [] {
    Table table;
    for (Table part :
         {activations(), arithmetic(), bounds_predicates_and_bits(), functions(), losses()})
      table.merge(part);
    return table;
  }();
  const auto found = references.find(full_name);
  return found == references.end() ? nullptr : found->second;
}

}  // namespace hearth::testing
