#include <gtest/gtest.h>

#include <cmath>

#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

/// Turns a row into one of an op with bool results.
Row bool_row(Row row) {
  row.dtypes = dtypes::kRealAndBool;
  row.results = {Result::kBool};
  row.orders = 0;
  return row;
}

Row comparison_row(std::string name, Tensor (*op)(const Tensor&, const Tensor&),
                   Tensor& (*out)(Tensor&, const Tensor&, const Tensor&),
                   double (*reference)(double, double)) {
  Row row = bool_row(binary_row(std::move(name), op, reference, Draw::kSmall));
  row.out = [out](Tensor& target, const Tensors& in) { out(target, in[0], in[1]); };
  row.refusals = {{[op] { op(ones({3}), ones({4})); },
                   "The size of tensor a (3) must match the size of tensor b (4) at non-singleton "
                   "dimension 0"}};
  return row;
}

Row number_row(std::string name, Tensor (*op)(const Tensor&, const Scalar&),
               double (*reference)(double, double)) {
  Row row = bool_row({});
  row.name = name + "_number";
  row.covers = {std::move(name)};
  row.cases = {{{{3, 5}, Draw::kSmall}},
               {{{}, Draw::kSmall}},
               {{{0}, Draw::kSmall}},
               {{{2, 1, 17}, Draw::kSmall}}};
  row.call = [op](const Tensors& in) { return Tensors{op(in[0], 1)}; };
  row.reference = [reference](const Arrays& in) {
    return Arrays{map(in, [reference](const double* x) { return reference(x[0], 1); })};
  };
  return row;
}

Row predicate_row(std::string name, Tensor (*op)(const Tensor&), double (*reference)(double)) {
  return bool_row(unary_row(std::move(name), op, reference, Draw::kSmall));
}

#define COMPARISON(name, op)                                                     \
  Register(comparison_row(#name, &hearth::name, &hearth::name##_out,             \
                          [](double a, double b) -> double { return a op b; })), \
      Register(                                                                  \
          number_row(#name, &hearth::name, [](double a, double b) -> double { return a op b; }))

const Register registered_compare[] = {
    COMPARISON(eq, ==),
    COMPARISON(ne, !=),
    COMPARISON(lt, <),
    COMPARISON(le, <=),
    COMPARISON(gt, >),
    COMPARISON(ge, >=),
    Register(
        predicate_row("isnan", &hearth::isnan, [](double x) -> double { return std::isnan(x); })),
    Register(
        predicate_row("isinf", &hearth::isinf, [](double x) -> double { return std::isinf(x); })),
    Register(predicate_row("isfinite", &hearth::isfinite,
                           [](double x) -> double { return std::isfinite(x); })),
    Register(predicate_row("isposinf", &hearth::isposinf,
                           [](double x) -> double { return x == INFINITY; })),
    Register(predicate_row("isneginf", &hearth::isneginf,
                           [](double x) -> double { return x == -INFINITY; })),
    Register(predicate_row("signbit", &hearth::signbit,
                           [](double x) -> double { return std::signbit(x); })),
};

TEST(Compare, AliasesAndInPlaceForms) {
  const Tensor a = tensor({1, 2, 3}, TensorOptions(kLong)), b = full({3}, 2, kLong);
  EXPECT_TRUE(greater(a, b).equal(a > b) && greater_equal(a, b).equal(a >= b));
  EXPECT_TRUE(less(a, 2).equal(a < 2) && less_equal(a, 2).equal(a <= 2));
  EXPECT_TRUE(not_equal(a, b).equal(a != b));
  EXPECT_TRUE(a.clone().lt_(b).equal(tensor({1, 0, 0}, TensorOptions(kLong))));
  EXPECT_TRUE(a.to(kFloat).ge_(2).equal(tensor({0.f, 1.f, 1.f})));
}

TEST(Compare, InPlaceHasAGradientOfZero) {
  const Tensor x = ones({2}).requires_grad_();
  Tensor y = x * 2;
  y.gt_(1);
  (y * x).sum().backward();
  EXPECT_TRUE(x.grad().equal(ones({2})));
}

TEST(Compare, EqualComparesSizesAndElements) {
  EXPECT_TRUE(ones({2, 3}).equal(ones({2, 3})));
  EXPECT_FALSE(ones({2, 3}).equal(ones({3, 2})));
  EXPECT_FALSE(ones({2}).equal(zeros({2})));
  EXPECT_TRUE(ones({0}).equal(ones({0})));
  EXPECT_FALSE(full({2}, NAN).equal(full({2}, NAN)));
}

TEST(Compare, AllcloseUsesTolerances) {
  EXPECT_TRUE(ones({3}).allclose(full({3}, 1.000001)));
  EXPECT_FALSE(ones({3}).allclose(full({3}, 1.001)));
  EXPECT_TRUE(ones({3}).allclose(full({3}, 1.001), 0.01));
  EXPECT_TRUE(full({2}, INFINITY).allclose(full({2}, INFINITY)));
  EXPECT_FALSE(full({2}, INFINITY).allclose(full({2}, -INFINITY)));
  EXPECT_FALSE(full({2}, NAN).allclose(full({2}, NAN)));
  EXPECT_TRUE(full({2}, NAN).allclose(full({2}, NAN), 1e-5, 1e-8, true));
  EXPECT_THROW(ones({2}).allclose(ones({2}, kDouble)), Error);
}

/// Expected: PyTorch 2.15's results.
TEST(Compare, AllcloseOfLargeNumbers) {
  const auto is_close = [](int64_t a, int64_t b, double rtol, double atol) {
    return full({1}, a, kLong).allclose(full({1}, b, kLong), rtol, atol);
  };
  constexpr int64_t kFloatLimit = int64_t{1} << 24, kDoubleLimit = int64_t{1} << 53;
  EXPECT_FALSE(is_close(kDoubleLimit + 1, kDoubleLimit, 0, 0));
  EXPECT_TRUE(is_close(kDoubleLimit + 1, kDoubleLimit, 0, 1e-8));
  EXPECT_FALSE(is_close(kFloatLimit + 1, kFloatLimit, 0, 0));
  EXPECT_TRUE(is_close(kFloatLimit + 1, kFloatLimit, 1e-12, 0));
  EXPECT_FALSE(is_close(kFloatLimit + 2, kFloatLimit, 0, 1e-8));
  EXPECT_FALSE(is_close(INT64_MIN, INT64_MAX, 0, 1));
  EXPECT_TRUE(is_close(INT64_MIN, INT64_MAX, 0, 2e19));
  EXPECT_TRUE(full({1}, 255, kByte).allclose(zeros({1}, kByte), 0, 255));
  EXPECT_TRUE(ones({1}, kBool).allclose(ones({1}, kBool), 0, 0));
  // The difference overflows.
  EXPECT_FALSE(full({1}, 3e38).allclose(full({1}, -3e38), 2));
}

}  // namespace
}  // namespace hearth::testing
