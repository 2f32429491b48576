#include <gtest/gtest.h>

#include <algorithm>

#include "hearth/autograd.h"
#include "hearth/stream.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/pointwise_rows.h"

namespace hearth::testing {
namespace {

/// The inverse of erf by bisection.
double erfinv_reference(double x) {
  if (!(std::fabs(x) < 1)) return std::fabs(x) == 1 ? x * INFINITY : std::nan("");
  long double low = -6, high = 6;
  for (int i = 0; i < 100; ++i) {
    const long double middle = (low + high) / 2;
    (std::erf(middle) < static_cast<long double>(x) ? low : high) = middle;
  }
  return double(low);
}

/// nan_to_num(x, 1, 2, 3).
double nan_to_num_reference(double x) {
  return std::isnan(x) ? 1 : std::isinf(x) ? (x > 0 ? 2 : 3) : x;
}

Row ndtr_row() {
  Row row = unary_row("special_ndtr", special_ndtr,
                      [](double x) { return std::erfc(-x * std::sqrt(0.5)) / 2; });
  row.dtypes = dtypes::kRealAndBool;
  row.results = {Result::kFloat};
  row.slack = 2;
  row.out = [](Tensor& out, const Tensors& in) { special_ndtr_out(out, in[0]); };
  return row;
}

/// log(e^(unit a) + e^(unit b)) / unit.
double log_of_sum(double a, double b, double unit) {
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  if (a == b && std::isinf(a)) return a;
  return std::max(a, b) + std::log1p(std::exp(-unit * std::fabs(a - b))) / unit;
}

#define MATH_ROW(name, draw, reference) \
  Register(with_integers_to_float(POINTWISE_ROW(#name, name, draw, reference)))
#define ROUNDING_ROW(name, reference) \
  Register(with_integers(POINTWISE_ROW(#name, name, Draw::kNormal, reference)))

Row nan_to_num_row() {
  Row row =
      POINTWISE_ROW("nan_to_num", nan_to_num, Draw::kNormal, nan_to_num_reference(x), 1, 2, 3);
  row.dtypes = dtypes::kRealAndBool;
  return row;
}

const Register registered_math[] = {
    MATH_ROW(exp, Draw::kNormal, std::exp(x)),
    MATH_ROW(exp2, Draw::kNormal, std::exp2(x)),
    MATH_ROW(expm1, Draw::kNormal, std::expm1(x)),
    MATH_ROW(log, Draw::kPositive, std::log(x)),
    MATH_ROW(log2, Draw::kPositive, std::log2(x)),
    MATH_ROW(log10, Draw::kPositive, std::log10(x)),
    MATH_ROW(log1p, Draw::kPositive, std::log1p(x)),
    MATH_ROW(sqrt, Draw::kPositive, std::sqrt(x)),
    MATH_ROW(rsqrt, Draw::kPositive, 1 / std::sqrt(x)),
    MATH_ROW(erf, Draw::kNormal, std::erf(x)),
    MATH_ROW(erfc, Draw::kNormal, std::erfc(x)),
    Register(ndtr_row()),
    MATH_ROW(erfinv, Draw::kUnit, erfinv_reference(x)),
    ROUNDING_ROW(floor, std::floor(x)),
    ROUNDING_ROW(ceil, std::ceil(x)),
    ROUNDING_ROW(round, std::nearbyint(x)),
    ROUNDING_ROW(trunc, std::trunc(x)),
    Register(covering(
        POINTWISE_ROW("round_decimals", round, Draw::kNormal, std::nearbyint(x * 10) / 10, 1),
        "round.decimals")),
    Register(
        covering(POINTWISE_ROW("round_tens", round, Draw::kNormal, std::nearbyint(x / 10) * 10, -1),
                 "round.decimals")),
    Register(POINTWISE_ROW("frac", frac, Draw::kNormal, x - std::trunc(x))),
    Register(nan_to_num_row()),
    Register(POINTWISE_ROW2(logaddexp, Draw::kNormal, dtypes::kFloating, log_of_sum(a, b, 1))),
    Register(POINTWISE_ROW2(logaddexp2, Draw::kNormal, dtypes::kFloating, log_of_sum(a, b, M_LN2))),
    Register(with_integers_to_float(with_inplace(
        POINTWISE_ROW2(copysign, Draw::kNormal, dtypes::kRealAndBool, std::copysign(a, b)),
        [](Tensor& self, const Tensor& other) -> Tensor& { return self.copysign_(other); }))),
    Register(with_integers_to_float(with_inplace(
        POINTWISE_ROW2(xlogy, Draw::kPositive, dtypes::kRealAndBool,
                       a == 0 && !std::isnan(b) ? 0 : a * std::log(b)),
        [](Tensor& self, const Tensor& other) -> Tensor& { return self.xlogy_(other); }))),
};

TEST(Math, LogarithmsOfPowersAreExact) {
  for (const ScalarType type : {kFloat, kDouble}) {
    const Tensor n = arange(-20, 21, type);
    EXPECT_TRUE(log2(exp2(n)).equal(n)) << type;
    const Tensor decades = full({4}, 10., type).pow(arange(4, type)).round();
    EXPECT_TRUE(log10(decades).equal(arange(4, type))) << type;
  }
}

TEST(Math, ErfinvInvertsErf) {
  for (const double y : {-4.5, -2.5, -1e-8, 1e-20, 0.3, 3.0, 5.0}) {
    const double x = std::erf(y), found = erfinv(full({}, x, kDouble)).item<double>();
    EXPECT_NEAR(std::erf(found), x, 2e-16) << y;
  }
}

TEST(Math, NanToNumReplacesInfinitiesWithTheLargestNumbers) {
  const Tensor x = full({1}, INFINITY);
  EXPECT_EQ(x.to(kHalf).nan_to_num().item<double>(), 65504);
  EXPECT_EQ(x.nan_to_num().item<float>(), __FLT_MAX__);
  EXPECT_EQ((-x).to(kDouble).nan_to_num().item<double>(), -__DBL_MAX__);
  EXPECT_EQ((-x).to(kBFloat16).nan_to_num().item<double>(), -0x1.fep127);
  EXPECT_EQ(full({1}, NAN).nan_to_num().item<float>(), 0);
}

TEST(Math, XlogyOfZeroAndOfNumbers) {
  const Tensor zero = zeros({1});
  EXPECT_EQ(zero.xlogy(0).item<float>(), 0);
  EXPECT_TRUE(std::isnan(zero.xlogy(NAN).item<float>()));
  EXPECT_EQ(xlogy(2, ones({1})).item<float>(), 0);
}

TEST(Math, CopysignOfZerosNumbersAndGradients) {
  const Tensor x = tensor({1.f, -2.f, 0.f}), y = tensor({-0.f, 3.f, -1.f});
  EXPECT_TRUE(copysign(x, y).equal(tensor({-1.f, 2.f, -0.f})));
  EXPECT_TRUE(copysign(x, y).signbit().equal(tensor({true, false, true})));
  EXPECT_TRUE(copysign(tensor({1, -2}), -1).equal(tensor({-1.f, -2.f})));
  const Tensor leaf = x.clone().requires_grad_();
  copysign(leaf, y).sum().backward();
  EXPECT_TRUE(leaf.grad().equal(tensor({-1.f, -1.f, 0.f})));
}

TEST(Math, LogaddexpRefusesIntegers) {
  EXPECT_THROW(logaddexp(tensor({1}), tensor({2})), NotImplementedError);
  EXPECT_THROW(logaddexp2(tensor({1}), tensor({2})), NotImplementedError);
}

}  // namespace
}  // namespace hearth::testing
