#include <gtest/gtest.h>

#include <cmath>

#include "hearth/cuda.h"
#include "tests/support/op_table.h"

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

Row div_row() {
  Row row = binary_row(
      "div", [](const Tensor& a, const Tensor& b) { return a.div(b); },
      [](double a, double b) { return a / b; });
  row.dtypes = dtypes::kRealAndBool;
  row.results = {Result::kFloat};
  row.out = [](Tensor& out, const Tensors& in) { div_out(out, in[0], in[1]); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.div_(in[1]); };
  row.refusals = {{[] { ones({2}, kLong).div_(2); },
                   "result type Float can't be cast to the desired output type Long"}};
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

/// Ops of a tensor and a C++ number, which changes the dtype only by its kind.
Row number_row(std::string name, std::string covers, Tensor (*op)(const Tensor&),
               double (*reference)(double)) {
  Row row = unary_row(std::move(name), op, reference);
  row.covers = {std::move(covers)};
  row.dtypes = dtypes::kReal;
  return row;
}

Row neg_row() {
  Row row = number_row("neg", "neg", &hearth::neg, [](double x) { return -x; });
  row.out = [](Tensor& out, const Tensors& in) { neg_out(out, in[0]); };
  row.inplace = [](Tensor& self, const Tensors&) { self.neg_(); };
  row.refusals = {{[] { ones({2}, kBool).neg(); },
                   "Negation, the `-` operator, on a bool tensor is not supported."}};
  return row;
}

Row abs_row() {
  Row row = number_row("abs", "abs", &hearth::abs, [](double x) { return std::fabs(x); });
  row.out = [](Tensor& out, const Tensors& in) { abs_out(out, in[0]); };
  row.inplace = [](Tensor& self, const Tensors&) { self.abs_(); };
  return row;
}

double larger(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : a > b ? a : b;
}
double smaller(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : a < b ? a : b;
}

Row extreme_row(std::string name, Tensor (*op)(const Tensor&, const Tensor&),
                Tensor& (*out)(Tensor&, const Tensor&, const Tensor&),
                double (*reference)(double, double)) {
  Row row = binary_row(std::move(name), op, reference);
  row.dtypes = dtypes::kRealAndBool;
  row.out = [out](Tensor& target, const Tensors& in) { out(target, in[0], in[1]); };
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

const Register registered[] = {
    Register(add_row()),
    Register(add_alpha_row()),
    Register(sub_row()),
    Register(mul_row()),
    Register(div_row()),
    Register(pow_row()),
    Register(neg_row()),
    Register(abs_row()),
    Register(where_row()),
    Register(extreme_row("maximum", &hearth::maximum, &hearth::maximum_out, larger)),
    Register(extreme_row("minimum", &hearth::minimum, &hearth::minimum_out, smaller)),
    Register(number_row(
        "add_number", "add", [](const Tensor& x) { return x.add(3, 2); },
        [](double x) { return x + 6; })),
    Register(number_row(
        "sub_number", "sub", [](const Tensor& x) { return x.sub(3, 2); },
        [](double x) { return x - 6; })),
    Register(number_row(
        "mul_number", "mul", [](const Tensor& x) { return x.mul(3); },
        [](double x) { return x * 3; })),
    Register(number_row(
        "square", "pow", [](const Tensor& x) { return x.pow(2); }, [](double x) { return x * x; })),
    Register(number_row(
        "cube", "pow", [](const Tensor& x) { return x.pow(3); },
        [](double x) { return x * x * x; })),
};

TEST(Arithmetic, NumbersChangeTheDtypeByTheirKindOnly) {
  EXPECT_EQ(ones({2}, kHalf).add(1.5).scalar_type(), kHalf);
  EXPECT_EQ(ones({2}, kByte).add(1000).scalar_type(), kByte);
  EXPECT_EQ(ones({2}, kLong).add(1.5).scalar_type(), kFloat);
  EXPECT_EQ(ones({2}, kBool).add(1).scalar_type(), kLong);
  EXPECT_EQ(ones({2}, kLong).div(2).scalar_type(), kFloat);
  EXPECT_EQ(ones({2}).mul(Scalar(complex<double>(0, 1))).scalar_type(), kComplexFloat);
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
