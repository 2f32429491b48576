// ldexp and frexp.
#include <gtest/gtest.h>

#include <cmath>

#include "hearth/autograd.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/pointwise_rows.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

Row ldexp_row() {
  Row row =
      with_inplace(POINTWISE_ROW2(ldexp, Draw::kNormal, dtypes::kFloating, a * std::exp2(b)),
                   [](Tensor& self, const Tensor& other) -> Tensor& { return self.ldexp_(other); });
  row.slack = 4;
  row.promotes = row.special_values = false;
  return row;
}

/// The exponent is compared as int64: the table has no int32 results.
Row frexp_row() {
  Row row;
  row.name = "frexp";
  row.covers = {"frexp"};
  row.cases = {{{{3, 5}}}, {{{2, 3, 4}}}, {{{}}}, {{{0, 4}}}};
  row.results = {Result::kSame, Result::kLong};
  row.orders = 1;
  row.call = [](const Tensors& in) {
    const auto [mantissa, exponent] = in[0].frexp();
    return Tensors{mantissa, exponent.to(kLong)};
  };
  row.reference = [](const Arrays& in) {
    const auto part = [&](bool is_exponent) {
      Array out = in[0];
      for (double& x : out.values) {
        int exponent = 0;
        const double mantissa = std::frexp(x, &exponent);
        x = is_exponent ? exponent : mantissa;
      }
      return out;
    };
    return Arrays{part(false), part(true)};
  };
  row.refusals = {
      {[] { ones({2}, kInt).frexp(); }, "torch.frexp() only supports floating-point dtypes"}};
  return row;
}

const Register registered_exponents[] = {Register(ldexp_row()), Register(frexp_row())};

TEST(Exponents, FrexpOfSpecialValues) {
  const Tensor x = tensor({0.0, -0.0, HUGE_VAL, 1e-45, 3.0, -0.75}, kFloat);
  const auto [mantissa, exponent] = frexp(x);
  EXPECT_TRUE(mantissa.equal(tensor({0.f, -0.f, INFINITY, 0.5f, 0.75f, -0.75f})));
  EXPECT_TRUE(mantissa.signbit().equal(x.signbit()));
  EXPECT_TRUE(exponent.equal(tensor({0, 0, 0, -148, 2, 0}, kInt)));
  EXPECT_EQ(exponent.scalar_type(), kInt);
  const Tensor tiny = tensor({5e-324, 1e-310, 1.7e308}, kDouble);
  const auto [fraction, power] = frexp(tiny);
  EXPECT_TRUE(fraction.ge(0.5).logical_and(fraction.lt(1)).all().item<bool>());
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_EQ(std::ldexp(fraction[i].item<double>(), power[i].item<int>()), tiny[i].item<double>());
}

TEST(Exponents, FrexpGradientIsTwoToMinusTheExponent) {
  const Tensor x = tensor({0.f, 3.f, -10.f}).requires_grad_();
  std::get<0>(x.frexp()).sum().backward();
  EXPECT_TRUE(x.grad().equal(tensor({1.f, 0.25f, 0.0625f})));
}

TEST(Exponents, LdexpByIntegersIsExact) {
  const Tensor x = tensor({5e-324, 1e-300, 0.0, 1.0}, kDouble);
  const Tensor powers = tensor({1074, 1500, 5000, -1074}, kLong);
  const Tensor expected = tensor({1.0, std::ldexp(1e-300, 1500), 0.0, 5e-324}, kDouble);
  EXPECT_TRUE(x.ldexp(powers).equal(expected));
  EXPECT_TRUE(ldexp(tensor({0.f, 1.f}), full({2}, 255, kByte)).equal(tensor({0.f, INFINITY})));
  // The exact result is 2.5 + 2^-50 subnormal units. Rounded once it is 3 units, rounded twice 2.
  const double odd = std::ldexp(2.5 + 0x1p-50, -30);
  EXPECT_EQ(full({}, odd, kDouble).ldexp(full({}, -1044, kLong)).item<double>(), 3 * 0x1p-1074);
}

TEST(Exponents, LdexpByIntegersKeepsTheDtype) {
  const Tensor powers = tensor({1, 2}, kLong);
  for (const ScalarType type : {kHalf, kBFloat16, kFloat, kDouble}) {
    EXPECT_EQ(ones({2}, type).ldexp(powers).scalar_type(), type);
    EXPECT_EQ(ones({}, type).ldexp(powers).scalar_type(), type);
  }
}

TEST(Exponents, LdexpOfIntegersIsFloating) {
  EXPECT_TRUE(ldexp(tensor({1}), tensor({2})).equal(tensor({4.f})));
  EXPECT_ERROR(ones({1}, kLong).ldexp_(ones({1})), "can't be cast to the desired output type Long");
}

TEST(Exponents, FrexpWritesBothOutputs) {
  Tensor mantissa = empty({0}), exponent = empty({0}, kInt);
  frexp_out(mantissa, exponent, tensor({12.f}));
  EXPECT_TRUE(mantissa.equal(tensor({0.75f})));
  EXPECT_TRUE(exponent.equal(tensor({4}, kInt)));
}

}  // namespace
}  // namespace hearth::testing
