// cdist and pdist, against loops over the elements.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "ops/cdist.h"
#include "tests/ops/large.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

double distance(const double* a, const double* b, int64_t width, double p) {
  double sum = 0;
  for (int64_t i = 0; i < width; ++i) {
    const double difference = std::fabs(a[i] - b[i]);
    if (p == 0)
      sum += difference != 0;
    else
      sum = std::isinf(p) ? std::fmax(sum, difference) : sum + std::pow(difference, p);
  }
  return p == 0 || std::isinf(p) ? sum : std::pow(sum, 1 / p);
}

/// The distances of [batch, rows, width] and [batch, columns, width]; each may lack the
/// batch.
Arrays cdist_reference(const Arrays& in, double p) {
  const Array &a = in[0], &b = in[1];
  const auto size = [](const Array& t, int back) { return t.sizes[t.sizes.size() - size_t(back)]; };
  const int64_t rows = size(a, 2), columns = size(b, 2), width = size(a, 1);
  std::vector<int64_t> sizes = a.sizes.size() > b.sizes.size() ? a.sizes : b.sizes;
  sizes[sizes.size() - 2] = rows;
  sizes.back() = columns;
  const auto row_of = [&](const Array& t, int64_t n, int64_t count, int64_t row) {
    const int64_t batch = t.sizes.size() == 3 ? n : 0;
    return t.values.data() + (batch * count + row) * width;
  };
  return {build(sizes, [&](const Position& at) {
    const int64_t n = at.size() == 3 ? at[0] : 0;
    return distance(row_of(a, n, rows, at[at.size() - 2]), row_of(b, n, columns, at.back()), width,
                    p);
  })};
}

Row cdist_row(std::string name, double p, std::optional<int64_t> mode = {}) {
  Row row;
  row.name = "cdist_" + std::move(name);
  row.covers = {"cdist", "_cdist_forward", "_cdist_backward", "_euclidean_dist"};
  row.cases = {{{{3, 5}}, {{4, 5}}}, {{{2, 2, 3}}, {{6, 3}}}, {{{0, 3}}, {{4, 3}}}};
  // With 1.5, finite differences fail where |x|^1.5 bends sharply, which more elements make likely.
  if (p != 0 && p != 1.5 && mode != 1) row.cases.push_back({{{9, 37}}, {{7, 37}}});
  row.dtypes = dtypes::kFloatAndDouble;
  if (p == 0) row.orders = 0;
  row.call = [=](const Tensors& in) { return Tensors{cdist(in[0], in[1], p, mode)}; };
  row.reference = [p](const Arrays& in) { return cdist_reference(in, p); };
  row.slack = mode == 1 ? 60 : 10;
  row.gradient_slack = mode == 1 ? 20 : 4;
  return row;
}

Row refusing_cdist_row() {
  Row row = cdist_row("2", 2, 2);
  const auto refusal = [](std::vector<int64_t> a, std::vector<int64_t> b, ScalarType type, double p,
                          int64_t mode, std::string text) {
    return Refusal{[=] { cdist(ones(a, type), ones(b), p, mode); }, std::move(text)};
  };
  row.refusals = {
      refusal({3}, {2, 3}, kFloat, 2, 0, "cdist only supports at least 2D tensors, X1 got: 1D"),
      refusal({2, 3}, {3}, kFloat, 2, 0, "cdist only supports at least 2D tensors, X2 got: 1D"),
      refusal({2, 3}, {2, 2}, kFloat, 2, 0,
              "X1 and X2 must have the same number of columns. X1: 3 X2: 2"),
      refusal({2, 3}, {2, 3}, kLong, 2, 0,
              "cdist only supports floating-point dtypes, X1 got: Long"),
      refusal({2, 3}, {2, 3}, kHalf, 2, 0, "\"cdist\" not implemented for 'Half'"),
      refusal({2, 3}, {2, 3}, kDouble, 2, 0, "expected scalar type Double but found Float"),
      refusal({2, 3}, {2, 3}, kFloat, -1, 0, "cdist only supports non-negative p values"),
      refusal({2, 3}, {2, 3}, kFloat, NAN, 0, "cdist only supports non-negative p values"),
      refusal({2, 3}, {2, 3}, kFloat, 2, 3, "possible modes: 0, 1, 2, but was: 3"),
      refusal({2, 2, 3}, {3, 2, 3}, kFloat, 2, 0, "must match the size of tensor b (3)")};
  return row;
}

Row pdist_row(std::string name, double p) {
  Row row;
  row.name = "pdist_" + std::move(name);
  row.covers = {"pdist", "_pdist_forward"};
  row.cases = {{{{4, 5}}}, {{{2, 3}}}, {{{1, 3}}}, {{{0, 3}}}};
  row.dtypes = dtypes::kFloatAndDouble;
  if (p == 0) row.orders = 0;
  row.call = [p](const Tensors& in) { return Tensors{pdist(in[0], p)}; };
  row.reference = [p](const Arrays& in) {
    const Array distances = cdist_reference({in[0], in[0]}, p)[0];
    Array pairs;
    for (int64_t i = 0; i < in[0].sizes[0]; ++i)
      for (int64_t j = i + 1; j < in[0].sizes[0]; ++j)
        pairs.values.push_back(at(distances, {i, j}));
    pairs.sizes = {int64_t(pairs.values.size())};
    return Arrays{pairs};
  };
  row.slack = 10;
  row.gradient_slack = 4;
  row.refusals = {{[] { pdist(ones({3})); }, "pdist only supports 2D tensors, got: 1D"},
                  {[] {
                     pdist(ones({3, 2}, kLong));
                   },
                   "pdist only supports floating-point dtypes"},
                  {[] {
                     pdist(ones({3, 2}, kBFloat16));
                   },
                   "\"pdist\" not implemented for 'BFloat16'"},
                  {[] {
                     pdist(ones({3, 2}), -1);
                   },
                   "pdist only supports non-negative p values"}};
  return row;
}

/// Many rows, so that several threads and tiles are used, and rows longer than a block.
LargeCase many_rows(ScalarType dtype) {
  const Large x = large({1, 150, 130}, 31), y = large({1, 300, 130}, 32);
  const Large g = large({1, 150, 300}, 33);
  const Arrays in{{x.sizes, x.values}, {y.sizes, y.values}};
  const Array dist = cdist_reference(in, 2)[0];
  Array dx{x.sizes, Numbers(x.values.size())}, dy{y.sizes, Numbers(y.values.size())};
  for (int64_t i = 0; i < 150; ++i)
    for (int64_t j = 0; j < 300; ++j)
      for (int64_t m = 0; m < 130; ++m) {
        const double slope =
            g[i * 300 + j] * (x[i * 130 + m] - y[j * 130 + m]) / dist.values[size_t(i * 300 + j)];
        dx.values[size_t(i * 130 + m)] += slope;
        dy.values[size_t(j * 130 + m)] -= slope;
      }
  const Tensors tensors{x.tensor(dtype), y.tensor(dtype)};
  const Tensor gradient = g.tensor(dtype);
  return {[=] {
            return with_gradients([](const Tensors& t) { return cdist(t[0], t[1], 2, 2); }, tensors,
                                  gradient);
          },
          {dist, dx, dy}};
}

const Register registered_cdist[] = {
    Register(refusing_cdist_row()),      Register(cdist_row("product", 2, 1)),
    Register(cdist_row("0", 0)),         Register(cdist_row("1", 1)),
    Register(cdist_row("between", 1.5)), Register(cdist_row("3", 3)),
    Register(cdist_row("inf", kInf)),    Register(pdist_row("2", 2)),
    Register(pdist_row("0", 0)),         Register(pdist_row("1", 1)),
    Register(pdist_row("half", 0.5)),    Register(pdist_row("inf", kInf))};
const RegisterLarge registered_large_cdist({"cdist", {"Cdist", "CdistBackward"}, many_rows, 16});

/// The distances of two matrices with equal rows and ties, and their gradients.
Tensors with_ties(double p, Device device) {
  const Tensor x = tensor({0., 1., 2., 3., 4., 5.}, kFloat).reshape({2, 3}).to(device, kFloat);
  const Tensor y =
      tensor({0., 1., 2., 3., 3., 1., 7., 0., 2.}, kFloat).reshape({3, 3}).to(device, kFloat);
  const Tensor g = arange(1, 7, device).to(kFloat).reshape({2, 3});
  return with_gradients([p](const Tensors& t) { return cdist(t[0], t[1], p); }, {x, y}, g);
}

/// Values of PyTorch 2.15.
TEST(Cdist, EqualRowsAndTiesHaveTheGradientsOfPyTorch) {
  const auto expect = [](double p, std::vector<double> dx, std::vector<double> dy) {
    for (const Device device : devices()) {
      const Tensors got = with_ties(p, device);
      EXPECT_TRUE(got[1].cpu().flatten().allclose(tensor(dx, kFloat), 1e-5, 1e-5)) << p;
      EXPECT_TRUE(got[2].cpu().flatten().allclose(tensor(dy, kFloat), 1e-5, 1e-5)) << p;
    }
  };
  expect(0, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0});
  expect(0.5, {-8.921587, 5.073550, 8.292528, -5.196154, 44.196152, 39.356407},
         {-12, -12, -12, 4.787694, -9.136297, -15.792528, 21.330048, -28.133408, -19.856407});
  expect(2, {-4.573416, -0.644781, 0.534522, -1.438769, 7.270249, 9.971242},
         {-2.309401, -2.309401, -2.309401, 1.603567, -0.143633, -5.385235, 6.718019, -4.172434,
          -2.811128});
  expect(kInf, {-5, 0, 0, -2, 10, 9}, {-4, -4, -4, 2, 0, -5, 9, -6, 0});
}

/// Values of PyTorch 2.15: the maximum norm ignores NaN, the other norms do not.
TEST(Cdist, SpecialValues) {
  const Tensor nan = tensor({double(NAN), 1.}, kFloat).view({1, 2}), origin = zeros({1, 2});
  const Tensor infinite = tensor({kInf, 1.}, kFloat).view({1, 2});
  const auto distance_of = [](const Tensor& a, const Tensor& b, double p) {
    return cdist(a, b, p).item<double>();
  };
  for (double p : {0., 1., 2., 3.}) {
    EXPECT_TRUE(std::isnan(distance_of(nan, origin, p))) << p;
    EXPECT_TRUE(std::isnan(distance_of(infinite, infinite, p))) << p;
    EXPECT_EQ(distance_of(infinite, origin, p), p == 0 ? 2 : kInf);
  }
  EXPECT_EQ(distance_of(nan, origin, kInf), 1);
  EXPECT_EQ(distance_of(infinite, infinite, kInf), 0);
  EXPECT_EQ(cdist(zeros({2, 0}), zeros({3, 0})).sum().item<float>(), 0);
  const Tensor no_columns = zeros({2, 0}).requires_grad_(),
               distance = cdist(no_columns, zeros({3, 0}), kInf);
  const Tensor slope = autograd::grad({distance.sum()}, {no_columns}, {}, true, true)[0];
  EXPECT_TRUE(slope.sizes() == no_columns.sizes());
  const Tensor equal = ones({30, 3}, kDouble).requires_grad_();
  cdist(equal, ones({30, 3}, kDouble)).sum().backward();
  EXPECT_EQ(equal.grad().abs().sum().item<double>(), 0);
}

TEST(Cdist, ComposedOpsAgreeWithTheKernel) {
  const Tensor x = large({2, 5, 3}, 1).tensor(kDouble), y = large({2, 4, 3}, 2).tensor(kDouble);
  const Tensor g = large({2, 5, 4}, 3).tensor(kDouble);
  for (double p : {0.5, 1., 2., 4., kInf}) {
    const auto kernel = [p](const Tensors& t) { return cdist(t[0], t[1], p, 2); };
    const auto composed = [p](const Tensors& t) { return cdist_composed(t[0], t[1], p); };
    const Tensors got = with_gradients(composed, {x, y}, g),
                  wanted = with_gradients(kernel, {x, y}, g);
    for (size_t k = 0; k < 3; ++k) EXPECT_TRUE(got[k].allclose(wanted[k])) << p << " " << k;
  }
}

}  // namespace
}  // namespace hearth::testing
