#include <gtest/gtest.h>

#include <cmath>

#include "hearth/cuda.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/pointwise_rows.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

Row add_row() {
  Row row = binary_row(
      "add", [](const Tensor& a, const Tensor& b) { return a.add(b); },
      [](double a, double b) { return a + b; });
  row.dtypes = dtypes::kRealAndBool;
  row.out = [](Tensor& out, const Tensors& in) { add_out(out, in[0], in[1]); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.add_(in[1]); };
  row.refusals = {
      {[] {
         ones({2, 3}).add(ones({2, 4}));
       },
       "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1"},
      {[] {
         ones({2}).expand({3, 2}).add_(1);
       },
       "more than one element of the written-to tensor refers to a single memory"},
      {[] {
         ones({2}).add_(ones({3, 2}));
       },
       "output with shape [2] doesn't match the broadcast shape [3, 2]"},
      {[] { ones({2}, kLong).add_(1.5); },
       "result type Float can't be cast to the desired output type Long"},
      {[] { ones({2}, kLong).add(ones({2}, kLong), 0.5); },
       "For integral input tensors, argument alpha must not be a floating point number."},
      {[] { ones({2}).add(ones({2}), true); }, "Boolean alpha only supported for Boolean results."},
      {[] { add(ones({2}), Tensor()); }, "undefined Tensor"},
      {[] {
         const Tensor memory = ones({5});
         memory.slice(0, 0, 4).add_(memory.slice(0, 1, 5));
       },
       "some elements of the input tensor and the written-to tensor refer to a single memory "
       "location"}};
  return row;
}

Row add_alpha_row() {
  Row row = binary_row(
      "add_alpha", [](const Tensor& a, const Tensor& b) { return a.add(b, 3); },
      [](double a, double b) { return a + 3 * b; });
  row.covers = {"add"};
  row.dtypes = dtypes::kRealAndBool;
  row.out = [](Tensor& out, const Tensors& in) { add_out(out, in[0], in[1], 3); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.add_(in[1], 3); };
  return row;
}

Row sub_row() {
  Row row = binary_row(
      "sub", [](const Tensor& a, const Tensor& b) { return a.sub(b, 2); },
      [](double a, double b) { return a - 2 * b; });
  row.dtypes = dtypes::kReal;
  row.out = [](Tensor& out, const Tensors& in) { sub_out(out, in[0], in[1], 2); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.sub_(in[1], 2); };
  row.refusals = {{[] { ones({2}, kBool).sub(ones({2}, kBool)); },
                   "Subtraction, the `-` operator, with two bool tensors is not supported."}};
  return row;
}

Row mul_row() {
  Row row = binary_row(
      "mul", [](const Tensor& a, const Tensor& b) { return a.mul(b); },
      [](double a, double b) { return a * b; });
  row.dtypes = dtypes::kRealAndBool;
  row.out = [](Tensor& out, const Tensors& in) { mul_out(out, in[0], in[1]); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.mul_(in[1]); };
  return row;
}

Row pow_row() {
  Row row = binary_row(
      "pow", [](const Tensor& a, const Tensor& b) { return a.pow(b); },
      [](double a, double b) { return std::pow(a, b); }, Draw::kPositive);
  row.dtypes = dtypes::kReal;
  row.slack = 4;
  row.out = [](Tensor& out, const Tensors& in) { pow_out(out, in[0], in[1]); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.pow_(in[1]); };
  return row;
}

/// A row for an op of one tensor of integers or floating-point numbers; its other operands, if any,
/// are C++ numbers.
Row real_unary_row(std::string name, std::string covers, Tensor (*op)(const Tensor&),
                   double (*reference)(double)) {
  Row row = unary_row(std::move(name), op, reference);
  row.covers = {std::move(covers)};
  row.dtypes = dtypes::kReal;
  return row;
}

/// A row for a power that is computed as a root, in float32 and float64 only.
Row root_row(std::string name, std::string covers, Tensor (*op)(const Tensor&),
             double (*reference)(double)) {
  Row row = unary_row(std::move(name), op, reference, Draw::kPositive);
  row.covers = {std::move(covers)};
  row.dtypes = dtypes::kFloatAndDouble;
  row.slack = 2;
  return row;
}

Row neg_row() {
  Row row = real_unary_row("neg", "neg", &hearth::neg, [](double x) { return -x; });
  row.out = [](Tensor& out, const Tensors& in) { neg_out(out, in[0]); };
  row.inplace = [](Tensor& self, const Tensors&) { self.neg_(); };
  row.refusals = {{[] { ones({2}, kBool).neg(); },
                   "Negation, the `-` operator, on a bool tensor is not supported."}};
  return row;
}

Row abs_row() {
  Row row = real_unary_row("abs", "abs", &hearth::abs, [](double x) { return std::fabs(x); });
  row.out = [](Tensor& out, const Tensors& in) { abs_out(out, in[0]); };
  row.inplace = [](Tensor& self, const Tensors&) { self.abs_(); };
  return row;
}

Row rsub_row() {
  Row row = POINTWISE_ROW2(rsub, Draw::kNormal, dtypes::kReal, b - a);
  row.covers = {"sub"};
  return row;
}

Row sign_row() {
  Row row = POINTWISE_ROW("sign", sign, Draw::kNormal, x > 0 ? 1 : x < 0 ? -1 : 0);
  row.dtypes = dtypes::kRealAndBool;
  return row;
}

Row power_of_number_row() {
  Row row = unary_row(
      "pow_of_number", [](const Tensor& x) { return pow(2, x); },
      [](double x) { return std::exp2(x); }, Draw::kPositive);
  row.covers = {"pow"};
  row.dtypes = dtypes::kReal;
  row.slack = 4;
  row.special_values = false;
  return row;
}

Row float_power_row() {
  Row row = binary_row(
      "float_power", [](const Tensor& a, const Tensor& b) { return a.float_power(b); },
      [](double a, double b) { return std::pow(a, b); }, Draw::kPositive);
  row.covers = {};
  row.dtypes = dtypes::kReal;
  row.results = {Result::kDouble};
  row.refusals = {{[] { ones({2}).float_power_(2); },
                   "the base given to float_power_ has dtype Float but the operation's result "
                   "requires dtype Double"},
                  {[] { float_power(Tensor(), ones({2})); }, "#0 'self' (in float_power)"},
                  {[] { float_power(ones({2}), Tensor()); }, "#1 'exponent' (in float_power)"},
                  {[] { float_power(2, Tensor()); }, "#1 'exponent' (in float_power)"}};
  return row;
}

Row lerp_row() {
  Row row = ternary_row(
      "lerp", [](const Tensors& in) { return in[0].lerp(in[1], in[2]); },
      [](const double* x) { return x[0] + x[2] * (x[1] - x[0]); });
  row.out = [](Tensor& out, const Tensors& in) { lerp_out(out, in[0], in[1], in[2]); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.lerp_(in[1], in[2]); };
  row.refusals = {{[] { ones({2}).lerp(ones({2}, kDouble), 0.5); },
                   "expected dtype float for `end` but got dtype double"},
                  {[] { ones({2}).lerp(ones({2}), ones({2}, kDouble)); },
                   "expected dtype float for `weight` but got dtype double"},
                  {[] { ones({2}, kLong).lerp(ones({2}, kLong), 0.5); },
                   "\"lerp\" not implemented for 'Long'"}};
  return row;
}

Row lerp_number_row() {
  Row row = binary_row(
      "lerp_number", [](const Tensor& a, const Tensor& b) { return a.lerp(b, 0.3); },
      [](double a, double b) { return a + 0.3 * (b - a); });
  row.covers = {"lerp"};
  row.promotes = false;
  return row;
}

Row addcmul_row() {
  Row row = ternary_row(
      "addcmul", [](const Tensors& in) { return in[0].addcmul(in[1], in[2], 2); },
      [](const double* x) { return x[0] + 2 * x[1] * x[2]; });
  row.dtypes = dtypes::kReal;
  row.out = [](Tensor& out, const Tensors& in) { addcmul_out(out, in[0], in[1], in[2], 2); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.addcmul_(in[1], in[2], 2); };
  row.refusals = {{[] { addcmul(ones({2}, kBool), ones({2}, kBool), ones({2}, kBool)); },
                   "\"addcmul\" not implemented for 'Bool'"}};
  return row;
}

Row addcdiv_row() {
  Row row = ternary_row(
      "addcdiv", [](const Tensors& in) { return in[0].addcdiv(in[1], in[2], 0.5); },
      [](const double* x) { return x[0] + 0.5 * x[1] / x[2]; });
  row.out = [](Tensor& out, const Tensors& in) { addcdiv_out(out, in[0], in[1], in[2], 0.5); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.addcdiv_(in[1], in[2], 0.5); };
  row.refusals = {{[] { ones({2}).addcdiv(ones({2}, kLong), ones({2}, kLong)); },
                   "Integer division with addcdiv is no longer supported"}};
  return row;
}

Row heaviside_row() {
  Row row = POINTWISE_ROW2(heaviside, Draw::kSmall, dtypes::kRealAndBool, a == 0 ? b : a > 0);
  row.promotes = false;
  row.orders = 0;
  row.refusals = {{[] { ones({2}).heaviside(ones({2}, kLong)); },
                   "heaviside is not yet implemented for tensors with different dtypes."}};
  return row;
}

Row where_row() {
  Row row;
  row.name = "where";
  row.covers = {"where"};
  row.cases = {{{{3, 5}, Draw::kBool}, {{3, 5}}, {{3, 5}}},
               {{{4, 1}, Draw::kBool}, {{2, 1, 5}}, {{5}}},
               {{{}, Draw::kBool}, {{3}}, {{}}},
               {{{2, 3, 2, 2}, Draw::kBool}, {{2, 3, 2, 2}}, {{2, 3, 2, 2}}},
               {{{0, 2}, Draw::kBool}, {{0, 2}}, {{2}}}};
  row.dtypes = dtypes::kRealAndBool;
  row.call = [](const Tensors& in) { return Tensors{where(in[0], in[1], in[2])}; };
  row.reference = [](const Arrays& in) {
    return Arrays{map(in, [](const double* x) { return x[0] != 0 ? x[1] : x[2]; })};
  };
  row.keeps_memory_format = true;
  row.refusals = {{[] { where(ones({2}), ones({2}), ones({2})); },
                   "where expected condition to be a boolean tensor"}};
  return row;
}

const Register registered_arithmetic[] = {
    Register(add_row()),
    Register(add_alpha_row()),
    Register(sub_row()),
    Register(mul_row()),
    Register(pow_row()),
    Register(neg_row()),
    Register(abs_row()),
    Register(where_row()),
    Register(rsub_row()),
    Register(sign_row()),
    Register(power_of_number_row()),
    Register(float_power_row()),
    Register(lerp_row()),
    Register(lerp_number_row()),
    Register(addcmul_row()),
    Register(addcdiv_row()),
    Register(heaviside_row()),
    Register(real_unary_row(
        "add_number", "add", [](const Tensor& x) { return x.add(3, 2); },
        [](double x) { return x + 6; })),
    Register(real_unary_row(
        "sub_number", "sub", [](const Tensor& x) { return x.sub(3, 2); },
        [](double x) { return x - 6; })),
    Register(real_unary_row(
        "mul_number", "mul", [](const Tensor& x) { return x.mul(3); },
        [](double x) { return x * 3; })),
    Register(real_unary_row(
        "square", "pow.square", [](const Tensor& x) { return x.pow(2); },
        [](double x) { return x * x; })),
    Register(real_unary_row(
        "cube", "pow.cube", [](const Tensor& x) { return x.pow(3); },
        [](double x) { return x * x * x; })),
    Register(root_row(
        "pow_sqrt", "pow.sqrt", [](const Tensor& x) { return x.pow(0.5); },
        [](double x) { return std::sqrt(x); })),
    Register(root_row(
        "pow_rsqrt", "pow.rsqrt", [](const Tensor& x) { return x.pow(-0.5); },
        [](double x) { return 1 / std::sqrt(x); })),
};

TEST(Arithmetic, NumbersPromoteByKindOnly) {
  EXPECT_EQ(ones({2}, kHalf).add(1.5).scalar_type(), kHalf);
  EXPECT_EQ(ones({2}, kByte).add(1000).scalar_type(), kByte);
  EXPECT_EQ(ones({2}, kLong).add(1.5).scalar_type(), kFloat);
  EXPECT_EQ(ones({2}, kBool).add(1).scalar_type(), kLong);
  EXPECT_EQ(ones({2}, kLong).div(2).scalar_type(), kFloat);
  EXPECT_EQ(ones({2}).mul(Scalar(complex<double>(0, 1))).scalar_type(), kComplexFloat);
}

TEST(Arithmetic, NumbersInHalfSumsStayExactOnGpusOnly) {
  for (const Device device : devices()) {
    const Tensor x = full({2}, 0.05).to(device, kBFloat16);
    const double sum = x.add(1. / 3)[0].item<double>(), product = x.mul(1. / 3)[0].item<double>();
    EXPECT_EQ(sum, device.is_cpu() ? 0.384765625 : 0.3828125);
    EXPECT_EQ(product, 0.0167236328125);
    EXPECT_TRUE(full({1}, 0.1).to(device, kHalf).eq(0.1).item<bool>());
  }
}

// LibTorch fills a tensor of the other operand's dtype with the number.
TEST(Arithmetic, NumbersBeforeQuotientsAndDifferencesHaveTheTensorsPrecision) {
  const Tensor x = tensor({3.F, 7.F, 0.3F}), h = x.to(kHalf);
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ((1.7 / x).select(0, i).item<float>(), 1.7F / x.select(0, i).item<float>());
    EXPECT_EQ((1.7 - x).select(0, i).item<float>(), 1.7F - x.select(0, i).item<float>());
    // 1.7 is 1.7002 in float16.
    const float divisor = h.select(0, i).item<float>();
    EXPECT_EQ((1.7 / h).select(0, i).item<float>(), float(Half(float(Half(1.7F)) / divisor)));
  }
  const Tensor leaf = x.clone().requires_grad_(), quotients = 1.7 / leaf;
  quotients.sum().backward();
  for (int64_t i = 0; i < 3; ++i) {
    const double d = x.select(0, i).item<double>();
    EXPECT_NEAR(leaf.grad().select(0, i).item<double>(), -1.7 / (d * d), 2e-6);
  }
  EXPECT_EQ((1.7 / ones({2}, kLong)).scalar_type(), kFloat);
  EXPECT_ERROR(70000 - h, "value cannot be converted to type c10::Half without overflow");
  EXPECT_EQ((1.5 - ones({2}, kLong)).select(0, 0).item<double>(), 0.5);
}

TEST(Arithmetic, AliasesAndDtypesOfPowers) {
  const Tensor a = tensor({1.5f, -2.f}), b = tensor({0.5f, 4.f});
  EXPECT_TRUE(subtract(a, b).equal(a.sub(b)) && multiply(a, b).equal(a.mul(b)));
  EXPECT_TRUE(negative(a).equal(-a) && absolute(a).equal(a.abs()) && sgn(a).equal(a.sign()));
  EXPECT_TRUE(square(a).equal(a.mul(a)) && positive(a).equal(a));
  EXPECT_EQ(square(ones({2}, kBool)).scalar_type(), kLong);
  EXPECT_EQ(ones({2}, kBool).pow(2.0).scalar_type(), kFloat);
  EXPECT_EQ(float_power(2, ones({2}, kLong)).scalar_type(), kDouble);
}

TEST(Arithmetic, WhereWithOnlyACondition) {
  const std::vector<Tensor> found = where(tensor({0.f, 2.f, 3.f}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].equal(tensor({1, 2}, TensorOptions(kLong))));
  EXPECT_EQ(where(ones({}, kBool))[0].sizes().vec(), std::vector<int64_t>{1});
  const Tensor x = ones({2}), condition = ones({2}, kBool);
  EXPECT_TRUE(x.where(condition, 0).equal(x));
}

TEST(Arithmetic, ComplexNumbers) {
  const Tensor a = full({3}, Scalar(complex<double>(1, 2)), kComplexDouble);
  const Tensor b = full({3}, Scalar(complex<double>(3, -1)), kComplexDouble);
  const auto first = [](const Tensor& t) { return t.select(0, 0).item<complex<double>>(); };
  const auto expect = [&](const Tensor& t, double real, double imag) {
    EXPECT_NEAR(first(t).real(), real, 1e-14);
    EXPECT_NEAR(first(t).imag(), imag, 1e-14);
  };
  expect(a.add(b), 4, 1);
  expect(a.add(b, 2), 7, 0);
  expect(a.sub(b), -2, 3);
  expect(a.mul(b), 5, 5);
  expect(a.div(b), 0.1, 0.7);
  expect(a.neg(), -1, -2);
  expect(a.mul(full({3}, 2.0)), 2, 4);
}

}  // namespace
}  // namespace hearth::testing
