#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

Row truth_row(Row row) {
  row.dtypes = dtypes::kRealAndBool;
  row.results = {Result::kBool};
  row.orders = 0;
  return row;
}

Row comparison_row(std::string name, Tensor (*op)(const Tensor&, const Tensor&),
                   Tensor& (*out)(Tensor&, const Tensor&, const Tensor&),
                   double (*reference)(double, double)) {
  Row row = truth_row(binary_row(std::move(name), op, reference, Draw::kSmall));
  row.out = [out](Tensor& target, const Tensors& in) { out(target, in[0], in[1]); };
  row.refusals = {{[op] { op(ones({3}), ones({4})); },
                   "The size of tensor a (3) must match the size of tensor b (4) at non-singleton "
                   "dimension 0"}};
  return row;
}

Row number_row(std::string name, Tensor (*op)(const Tensor&, const Scalar&),
               double (*reference)(double, double)) {
  Row row = truth_row({});
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

Row test_row(std::string name, Tensor (*op)(const Tensor&), double (*reference)(double)) {
  return truth_row(unary_row(std::move(name), op, reference, Draw::kSmall));
}

#define COMPARISON(name, op)                                                     \
  Register(comparison_row(#name, &hearth::name, &hearth::name##_out,             \
                          [](double a, double b) -> double { return a op b; })), \
      Register(                                                                  \
          number_row(#name, &hearth::name, [](double a, double b) -> double { return a op b; }))

const Register registered[] = {
    COMPARISON(eq, ==),
    COMPARISON(ne, !=),
    COMPARISON(lt, <),
    COMPARISON(le, <=),
    COMPARISON(gt, >),
    COMPARISON(ge, >=),
    Register(comparison_row("logical_and", &hearth::logical_and, &hearth::logical_and_out,
                            [](double a, double b) -> double { return a != 0 && b != 0; })),
    Register(comparison_row("logical_or", &hearth::logical_or, &hearth::logical_or_out,
                            [](double a, double b) -> double { return a != 0 || b != 0; })),
    Register(
        test_row("logical_not", &hearth::logical_not, [](double x) -> double { return x == 0; })),
    Register(test_row("isnan", &hearth::isnan, [](double x) -> double { return std::isnan(x); })),
    Register(test_row("isinf", &hearth::isinf, [](double x) -> double { return std::isinf(x); })),
};

TEST(Compare, EqualLooksAtSizesAndElements) {
  EXPECT_TRUE(ones({2, 3}).equal(ones({2, 3})));
  EXPECT_FALSE(ones({2, 3}).equal(ones({3, 2})));
  EXPECT_FALSE(ones({2}).equal(zeros({2})));
  EXPECT_TRUE(ones({0}).equal(ones({0})));
  EXPECT_FALSE(full({2}, NAN).equal(full({2}, NAN)));
}

TEST(Compare, AllcloseAllowsForRounding) {
  EXPECT_TRUE(ones({3}).allclose(full({3}, 1.000001)));
  EXPECT_FALSE(ones({3}).allclose(full({3}, 1.001)));
  EXPECT_TRUE(ones({3}).allclose(full({3}, 1.001), 0.01));
  EXPECT_TRUE(full({2}, INFINITY).allclose(full({2}, INFINITY)));
  EXPECT_FALSE(full({2}, INFINITY).allclose(full({2}, -INFINITY)));
  EXPECT_FALSE(full({2}, NAN).allclose(full({2}, NAN)));
  EXPECT_TRUE(full({2}, NAN).allclose(full({2}, NAN), 1e-5, 1e-8, true));
  EXPECT_THROW(ones({2}).allclose(ones({2}, kDouble)), Error);
}

}  // namespace
}  // namespace hearth::testing
