// Powers, the exponential, vecdot, vander, products of chains, and tensors as matrices.
#include <gtest/gtest.h>

#include <limits>

#include "hearth/autocast.h"
#include "hearth/autograd.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/large.h"
#include "tests/ops/linalg.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

/// The exponential as the series of x / 2^10, squared ten times.
Mat exponential_of(const Mat& x) {
  const Mat small = x.map([](double v) { return v / 1024; });
  Mat sum = Mat::identity(x.rows), term = sum;
  for (int k = 1; k < 20; ++k) {
    term = (term * small).map([k](double v) { return v / k; });
    for (size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += term.values[i];
  }
  for (int k = 0; k < 10; ++k) sum = sum * sum;
  return sum;
}

Row exponential_row() {
  Row row = matrix_row(
      "linalg_matrix_exp", {"linalg_matrix_exp"},
      {unit({3, 3}), unit({2, 4, 4}), {{{2, 2}}}, unit({0, 0})},
      [](const Tensors& in) {
        return Tensors{in[0].matrix_exp(), linalg_matrix_exp(in[0])};
      },
      [](const Arrays& in) {
        const int64_t n = in[0].sizes.back();
        return Arrays(2, each_matrix(in[0], n, n, exponential_of));
      });
  row.refusals = {{[] {
                     linalg_matrix_exp(ones({2, 3}));
                   },
                   "linalg.matrix_exp: A must be batches of square matrices, but they are 2 by 3 "
                   "matrices"}};
  return row;
}

Row vecdot_row() {
  Row row = matrix_row(
      "linalg_vecdot", {"linalg_vecdot"}, {{{{2, 3}}, {{3}}}, {{{2, 3}}, {{2, 3}}}},
      [](const Tensors& in) { return Tensors{linalg_vecdot(in[0], in[1])}; },
      [](const Arrays& in) {
        const Array products = map({in[0], in[1]}, [](const double* x) { return x[0] * x[1]; });
        return Arrays{build({products.sizes[0]}, [&](const Position& p) {
          double sum = 0;
          for (int64_t k = 0; k < products.sizes[1]; ++k) sum += at(products, {p[0], k});
          return sum;
        })};
      });
  row.dtypes = dtypes::kFloating;
  row.out = [](Tensor& out, const Tensors& in) { linalg_vecdot_out(out, in[0], in[1]); };
  row.refusals = {{[] { linalg_vecdot(ones({2}, kLong), ones({2}, kLong)); },
                   "linalg.vecdot: Expected a floating point or complex tensor as input. Got Long"},
                  {[] { linalg_vecdot(ones({2}), ones({2}, kDouble)); },
                   "linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
                   "Float and y of type Double instead"}};
  return row;
}

/// Adds 4 to the diagonal of a [2, 3, 6] tensor, regarded as a [6, 6] matrix.
Tensor as_map(const Tensor& x) { return regular(x.reshape({6, 6})).reshape({2, 3, 6}); }

Row tensor_row() {
  Row row = matrix_row(
      "linalg_tensorinv", {"linalg_tensorinv", "linalg_tensorsolve"},
      {{{{2, 3, 6}, Draw::kUnit}, {{2, 3}}}},
      [](const Tensors& in) {
        const Tensor a = as_map(in[0]), permuted = a.movedim(2, 0);
        return Tensors{linalg_tensorinv(a), linalg_tensorsolve(a, in[1]),
                       linalg_tensorsolve(permuted, in[1], 0)};
      },
      [](const Arrays& in) {
        Mat a(6, 6), b(6, 1);
        a.values = in[0].values;
        b.values = in[1].values;
        const Mat inverse = inverse_of(regular(a));
        const Array x = array_of({}, 6, -1, {inverse * b});
        return Arrays{{{6, 2, 3}, inverse.values}, x, x};
      });
  row.slack = 200;
  row.gradient_slack = 200;
  row.refusals = {
      {[] {
         linalg_tensorinv(ones({2, 3, 5}));
       },
       "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), "
       "but got 5 != 6"},
      {[] {
         linalg_tensorinv(ones({2, 2}), 0);
       },
       "Expected a strictly positive integer for 'ind', but got 0"},
      {[] {
         linalg_tensorsolve(ones({2, 3, 5}), ones({2, 3}));
       },
       "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
       "prod(self.shape[:other.ndim]), but got 5 != 6"}};
  return row;
}

const Register registered_linalg_products[] = {Register(exponential_row()), Register(vecdot_row()),
                                               Register(tensor_row())};

TEST(LinalgProducts, Chains) {
  const Tensor a = large({5, 30}, 1).tensor(kDouble), b = large({30, 2}, 2).tensor(kDouble),
               c = large({2, 20}, 3).tensor(kDouble), v = large({20}, 4).tensor(kDouble);
  const Tensor wanted = a.matmul(b).matmul(c);
  EXPECT_TRUE(linalg_multi_dot({a, b, c}).allclose(wanted));
  EXPECT_TRUE(chain_matmul({a, b, c}).allclose(wanted));
  EXPECT_TRUE(linalg_multi_dot({a, b, c, v}).allclose(wanted.matmul(v)));
  EXPECT_EQ(linalg_multi_dot({v, v}).dim(), 0);
  EXPECT_ERROR(linalg_multi_dot({v}), "multi_dot(): expected at least 2 tensors but got 1");
  EXPECT_ERROR(linalg_multi_dot({a, c}),
               "multi_dot(): tensors 0 and 1 with shapes [5, 30] and [2, 20] cannot be multiplied");
  EXPECT_ERROR(linalg_multi_dot({a, v, c}), "multi_dot(): tensor 1 must be 2D but got 1D");
  EXPECT_ERROR(linalg_multi_dot({a, b.to(kFloat)}),
               "multi_dot(): all tensors must have be the same dtype but tensor 0 is double and "
               "tensor 1 float");
  EXPECT_ERROR(chain_matmul({a, v}), "Tensor dimension is 1, expected 2 instead.");
}

TEST(LinalgProducts, VanderPowersAndExponential) {
  const Tensor x = tensor({1, 2, 3}, kLong), m = large({2, 3, 3}, 1).tensor(kDouble);
  EXPECT_TRUE(
      linalg_vander(x, 4).equal(tensor({1, 1, 1, 1, 1, 2, 4, 8, 1, 3, 9, 27}, kLong).view({3, 4})));
  EXPECT_TRUE(linalg_vander(tensor({100, 2}).to(kChar), 3)
                  .equal(tensor({1, 100, 10000, 1, 2, 4}, kLong).view({2, 3})));
  EXPECT_EQ(linalg_vander(m).sizes().vec(), (std::vector<int64_t>{2, 3, 3, 3}));
  EXPECT_ERROR(linalg_vander(x, 1), "N must be greater than 1.");
  EXPECT_ERROR(linalg_vander(x.to(kHalf)),
               "linalg.vander supports floating point, complex, and "
               "integer tensors, but got Half");
  EXPECT_TRUE(linalg_diagonal(m).equal(m.diagonal(0, 1, 2)));
  EXPECT_TRUE(linalg_matmul(m, m).equal(m.matmul(m)));
  EXPECT_TRUE(linalg_matrix_power(m, 3).allclose(m.matmul(m).matmul(m)));
  EXPECT_ERROR(m.matrix_power(std::numeric_limits<int64_t>::min()), "out of range");
  const Tensor ones_of_2 = ones({2, 2}).requires_grad_();
  ones_of_2.matrix_power(0).sum().backward();
  EXPECT_TRUE(ones_of_2.grad().equal(zeros({2, 2})));
  EXPECT_TRUE(linalg_matrix_power(m, -2).allclose(linalg_inv(m.matmul(m))));
  const Tensor big = tensor({30., 1., 0., -40.}, kDouble).view({2, 2}).matrix_exp();
  EXPECT_NEAR(big[0][0].item<double>() / std::exp(30.0), 1, 1e-12);
  EXPECT_TRUE(full({2, 2}, kInf).matrix_exp().isnan().any().item<bool>());
  EXPECT_EQ(eye(2, kBFloat16).matrix_exp().scalar_type(), kBFloat16);
  const Tensor exact = m[0].to(kFloat).matrix_exp();
  const AutocastMode autocast(kCPU, kBFloat16);
  EXPECT_TRUE(m[0].to(kFloat).matrix_exp().equal(exact));
}

}  // namespace
}  // namespace hearth::testing
