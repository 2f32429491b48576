#include <gtest/gtest.h>

#include <numeric>

#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/pointwise_rows.h"

namespace hearth::testing {
namespace {

double floor_remainder(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// Python's a // b: the remainder has the sign of b, even if b is infinite.
double floored(double a, double b) {
  if (std::isinf(b) && std::isfinite(a)) return a != 0 && (a < 0) != (b < 0) ? -1 : 0;
  return std::isinf(a) && b != 0 ? std::nan("") : std::floor(a / b);
}

Row div_row() {
  Row row = POINTWISE_ROW2(div, Draw::kNormal, dtypes::kRealAndBool, a / b);
  row.results = {Result::kFloat};
  row.inplace = [](Tensor& self, const Tensors& in) { self.div_(in[1]); };
  row.refusals = {{[] { ones({2}, kLong).div_(2); },
                   "result type Float can't be cast to the desired output type Long"},
                  {[] { ones({2}).div(2, "up"); },
                   "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
                   "'up'"}};
  return row;
}

/// A row for a rounded division or its remainder. Integer division by zero throws on the CPU.
Row rounded_row(std::string name, std::string covers,
                std::function<Tensor(const Tensor&, const Tensor&)> op,
                double (*reference)(double, double)) {
  Row row = binary_row(std::move(name), op, reference);
  row.covers = {std::move(covers)};
  row.dtypes = dtypes::kReal;
  row.refusals = {{[op] { op(ones({2}, kLong), zeros({2}, kLong)); }, "ZeroDivisionError"}};
  return row;
}

Row trunc_row() {
  Row row = rounded_row(
      "div_trunc", "div.trunc", [](const Tensor& a, const Tensor& b) { return a.div(b, "trunc"); },
      [](double a, double b) { return std::trunc(a / b); });
  row.out = [](Tensor& out, const Tensors& in) { div_out(out, in[0], in[1], "trunc"); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.div_(in[1], "trunc"); };
  return row;
}

Row floor_row() {
  Row row = rounded_row(
      "div_floor", "div.floor", [](const Tensor& a, const Tensor& b) { return a.div(b, "floor"); },
      floored);
  row.out = [](Tensor& out, const Tensors& in) { div_out(out, in[0], in[1], "floor"); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.div_(in[1], "floor"); };
  return row;
}

Row floor_divide_row() {
  Row row = rounded_row(
      "floor_divide", "floor_divide",
      [](const Tensor& a, const Tensor& b) { return a.floor_divide(b); }, floored);
  row.orders = 0;
  row.out = [](Tensor& out, const Tensors& in) { floor_divide_out(out, in[0], in[1]); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.floor_divide_(in[1]); };
  return row;
}

Row remainder_row() {
  Row row = rounded_row(
      "remainder", "remainder", [](const Tensor& a, const Tensor& b) { return a.remainder(b); },
      floor_remainder);
  row.out = [](Tensor& out, const Tensors& in) { remainder_out(out, in[0], in[1]); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.remainder_(in[1]); };
  return row;
}

Row fmod_row() {
  Row row = rounded_row(
      "fmod", "fmod", [](const Tensor& a, const Tensor& b) { return a.fmod(b); },
      [](double a, double b) { return std::fmod(a, b); });
  row.out = [](Tensor& out, const Tensors& in) { fmod_out(out, in[0], in[1]); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.fmod_(in[1]); };
  return row;
}

/// A row of an integer function of two integers.
Row divisor_row(Row row, Tensor& (*inplace)(Tensor&, const Tensor&)) {
  row = with_inplace(std::move(row), inplace);
  row.orders = 0;
  row.special_values = false;
  row.refusals = {{[call = row.call] {
                     call({ones({2}), ones({2})});
                   },
                   "_cpu\" not implemented for 'Float'"},
                  {[call = row.call] {
                     call({ones({2}, kBool), ones({2}, kBool)});
                   },
                   "_cpu\" not implemented for 'Bool'"}};
  return row;
}
#define DIVISOR_ROW(name)                                        \
  Register(divisor_row(                                          \
      POINTWISE_ROW2(name, Draw::kNormal, dtypes::kIntegers,     \
                     double(std::name(int64_t(a), int64_t(b)))), \
      [](Tensor& self, const Tensor& other) -> Tensor& { return self.name##_(other); }))
const Register registered_divisors[] = {DIVISOR_ROW(gcd), DIVISOR_ROW(lcm)};

const Register registered_division[] = {
    Register(div_row()),
    Register(trunc_row()),
    Register(floor_row()),
    Register(floor_divide_row()),
    Register(remainder_row()),
    Register(fmod_row()),
    Register(with_integers(
        POINTWISE_ROW("remainder_number", remainder, Draw::kNormal, floor_remainder(x, 3), 3))),
    Register(with_integers(POINTWISE_ROW("fmod_number", fmod, Draw::kNormal, std::fmod(x, 3), 3))),
    Register(with_integers_to_float(POINTWISE_ROW("reciprocal", reciprocal, Draw::kNormal, 1 / x))),
};

TEST(Division, FloorOfSpecialValues) {
  const auto floor = [](double a, double b) {
    return full({}, a, kDouble).div(full({}, b, kDouble), "floor").item<double>();
  };
  EXPECT_EQ(floor(1.5, 0), INFINITY);
  EXPECT_EQ(floor(-2, INFINITY), -1);
  EXPECT_TRUE(std::signbit(floor(0, -INFINITY)));
  EXPECT_TRUE(std::isnan(floor(INFINITY, 2)));
  EXPECT_EQ(floor(1, 0.1), 9);  // 0.1 is a little more than a tenth
  EXPECT_EQ(tensor({-7, 7}, TensorOptions(kLong)).floor_divide(2).select(0, 0).item<int64_t>(), -4);
}

TEST(Division, NumbersAndIntegerTensors) {
  const Tensor n = tensor({1, 2, -4}, TensorOptions(kLong));
  EXPECT_TRUE((2.5 / n).equal(tensor({2.5f, 1.25f, -0.625f})));
  EXPECT_TRUE((3 % n).equal(tensor({0, 1, -1}, TensorOptions(kLong))));
  EXPECT_TRUE((n % 3).equal(tensor({1, 2, 2}, TensorOptions(kLong))));
  EXPECT_EQ((3.5 % n).scalar_type(), kFloat);
  EXPECT_TRUE(true_divide(n, 2).equal(divide(n, 2)));
}

TEST(Division, DivisorsOfZeroAndOfNegativeNumbers) {
  const Tensor a = tensor({12, -18, 0, 7, 0}), b = tensor({18, 12, 0, 0, -5});
  EXPECT_TRUE(gcd(a, b).equal(tensor({6, 6, 0, 7, 5})));
  EXPECT_TRUE(lcm(a, b).equal(tensor({36, 36, 0, 0, 0})));
  EXPECT_TRUE(gcd(tensor({int64_t{1} << 62}), tensor({int64_t{6}})).equal(tensor({int64_t{2}})));
  EXPECT_EQ(gcd(a.to(kShort), b.to(kChar)).scalar_type(), kShort);
  EXPECT_EQ(gcd(a.view({5, 1}), b).sizes().vec(), (std::vector<int64_t>{5, 5}));
  EXPECT_EQ(gcd(a.meta(), b.meta()).scalar_type(), a.scalar_type());
}

}  // namespace
}  // namespace hearth::testing
