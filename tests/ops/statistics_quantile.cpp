// quantile and nanquantile.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

/// The q-th quantile of each row.
Array quantiles_of_rows(const Array& x, double q) {
  const int64_t length = x.sizes.back();
  return build({x.sizes[0]}, [&](const Position& p) {
    std::vector<double> row(x.values.begin() + p[0] * length,
                            x.values.begin() + (p[0] + 1) * length);
    std::sort(row.begin(), row.end());
    const double rank = q * double(length - 1);
    const size_t below = size_t(std::floor(rank)), above = size_t(std::ceil(rank));
    return row[below] + (rank - double(below)) * (row[above] - row[below]);
  });
}

Row quantile_row(std::string name, Tensor (*of_number)(const Tensor&, double),
                 Tensor (*of_tensor)(const Tensor&, const Tensor&)) {
  Row row;
  row.name = name;
  row.covers = {name, name + ".scalar"};
  row.cases = {{{{3, 5}, Draw::kDistinct}}, {{{2, 8}, Draw::kDistinct}}, {{{4, 1}}}};
  row.dtypes = dtypes::kFloatAndDouble;
  row.slack = 4;
  row.gradient_slack = 4;
  row.orders = 1;
  row.call = [=](const Tensors& in) {
    const TensorOptions options = in[0].options().requires_grad(false);
    return Tensors{of_number(in[0], 0.3), of_tensor(in[0], full({}, 0.75, options))};
  };
  row.reference = [](const Arrays& in) {
    return Arrays{quantiles_of_rows(in[0], 0.3), quantiles_of_rows(in[0], 0.75)};
  };
  return row;
}

const Register registered_quantiles[] = {
    Register(quantile_row(
        "quantile", [](const Tensor& x, double q) { return x.quantile(q, 1); },
        [](const Tensor& x, const Tensor& q) { return x.quantile(q, 1); })),
    Register(quantile_row(
        "nanquantile", [](const Tensor& x, double q) { return x.nanquantile(q, 1); },
        [](const Tensor& x, const Tensor& q) { return x.nanquantile(q, 1); }))};

Tensor two_rows() { return tensor({{1.f, 7.f, 3.f}, {4.f, 9.f, 6.f}}); }

TEST(Quantile, Interpolations) {
  const Tensor q = tensor({0.1f, 0.5f, 0.8f});
  const auto first_row = [&](const char* interpolation) {
    return two_rows().quantile(q, 1, true, interpolation).select(1, 0).reshape({-1});
  };
  EXPECT_TRUE(first_row("linear").allclose(tensor({1.4f, 3.f, 5.4f})));
  EXPECT_TRUE(first_row("lower").equal(tensor({1.f, 3.f, 3.f})));
  EXPECT_TRUE(first_row("higher").equal(tensor({3.f, 3.f, 7.f})));
  EXPECT_TRUE(first_row("midpoint").equal(tensor({2.f, 3.f, 5.f})));
  EXPECT_TRUE(first_row("nearest").equal(tensor({1.f, 3.f, 7.f})));
}

TEST(Quantile, SizesOfResults) {
  const Tensor x = two_rows(), q = tensor({0.3f});
  EXPECT_EQ(x.quantile(0.3).dim(), 0);
  EXPECT_EQ(x.quantile(q).sizes().vec(), (std::vector<int64_t>{1}));
  EXPECT_EQ(x.quantile(q, {}, true).sizes().vec(), (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(x.quantile(q, 0).sizes().vec(), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(x.quantile(0.3, 1, true).sizes().vec(), (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(tensor(2.f).quantile(0.5, 0).dim(), 0);
  EXPECT_TRUE(x.quantile(0.3, 0).allclose(tensor({1.9f, 7.6f, 3.9f})));
}

TEST(Quantile, NaNWinsOrIsIgnored) {
  for (const Device device : devices()) {
    const Tensor x = tensor({1.f, NAN, 2.f, NAN}).to(device, kFloat);
    EXPECT_TRUE(std::isnan(x.quantile(0.3).item<float>()));
    EXPECT_EQ(x.nanquantile(0.5).item<float>(), 1.5f);
    EXPECT_TRUE(std::isnan(x.slice(0, 1, 2).nanquantile(0.5).item<float>()));
  }
}

TEST(Quantile, Gradients) {
  const Tensor x = tensor({1.0, 7.0, 3.0}, kDouble).requires_grad_();
  const Tensor q = tensor({0.8}, kDouble).requires_grad_();
  x.quantile(q).sum().backward();
  EXPECT_TRUE(x.grad().allclose(tensor({0.0, 0.6, 0.4}, kDouble)));
  EXPECT_TRUE(q.grad().allclose(tensor({8.0}, kDouble)));
}

TEST(Quantile, Refusals) {
  const Tensor x = two_rows();
  EXPECT_ERROR(ones({0}).quantile(0.5), "quantile() input tensor must be non-empty");
  EXPECT_ERROR(x.quantile(1.5), "quantile() q must be in the range [0, 1] but got 1.5");
  EXPECT_ERROR(x.quantile(tensor({1.5f})), "quantile() q values must be in the range [0, 1]");
  EXPECT_ERROR(x.quantile(ones({1, 1})), "quantile() q must be a scalar or 1D tensor");
  EXPECT_ERROR(x.to(kHalf).quantile(0.5),
               "quantile() input tensor must be either float or double dtype");
  EXPECT_ERROR(x.quantile(ones({}, kDouble)),
               "quantile() q tensor must be same dtype as the input tensor");
  EXPECT_ERROR(
      x.nanquantile(0.5, {}, false, "x"),
      "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
      "but got x");
}

}  // namespace
}  // namespace hearth::testing
