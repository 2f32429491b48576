// Norms of matrices and condition numbers.
#include <gtest/gtest.h>

#include <limits>

#include "hearth/autograd.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/large.h"
#include "tests/ops/linalg.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

/// The norm of order 1, -1, 2, -2, inf or -inf.
double norm_reference(const Mat& x, double ord) {
  const SvdReference svd(x);
  if (ord == 2) return svd.s.front();
  if (ord == -2) return svd.s.back();
  const Mat a = std::isinf(ord) ? x.transposed() : x;
  double result = ord > 0 ? 0 : kInf;
  for (int64_t j = 0; j < a.columns; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < a.rows; ++i) sum += std::fabs(a(i, j));
    result = ord > 0 ? std::max(result, sum) : std::min(result, sum);
  }
  return result;
}
double nuclear_reference(const Mat& x) {
  double sum = 0;
  for (const double s : SvdReference(x).s) sum += s;
  return sum;
}
double frobenius_reference(const Mat& x) {
  double sum = 0;
  for (const double v : x.values) sum += v * v;
  return std::sqrt(sum);
}

const std::vector<double> kOrders = {1, -1, 2, -2, kInf, -kInf};

Row norm_row() {
  Row row = matrix_row(
      "linalg_matrix_norm", {"linalg_matrix_norm", "nuclear_norm"},
      {unit({3, 3}), unit({4, 2}), unit({2, 2, 3})},
      [](const Tensors& in) {
        const Tensor a = regular(in[0]);
        Tensors results;
        for (const double ord : kOrders) results.push_back(linalg_matrix_norm(a, ord));
        results.push_back(linalg_matrix_norm(a));
        results.push_back(linalg_matrix_norm(a.mT(), "nuc", {-1, -2}));
        results.push_back(nuclear_norm(a, {-2, -1}));
        results.push_back(frobenius_norm(a, {-2, -1}));
        return results;
      },
      [](const Arrays& in) {
        const auto each = [&](const std::function<double(const Mat&)>& f) {
          return each_matrix(in[0], -1, -1, [&](const Mat& x) { return scalar_of(f(regular(x))); });
        };
        Arrays results;
        for (const double ord : kOrders)
          results.push_back(each([ord](const Mat& x) { return norm_reference(x, ord); }));
        results.push_back(each(frobenius_reference));
        results.push_back(each(nuclear_reference));
        results.push_back(each(nuclear_reference));
        results.push_back(each(frobenius_reference));
        return results;
      });
  row.gradient_slack = 1000;
  const auto refusal = [](std::function<void(const Tensor&)> call, std::string text) {
    return Refusal{[=] { call(ones({2, 3})); }, std::move(text)};
  };
  row.refusals = {
      refusal([](const Tensor& x) { linalg_matrix_norm(x, 3); },
              "linalg.matrix_norm: Order 3 not supported."),
      refusal([](const Tensor& x) { linalg_matrix_norm(x, "x"); },
              "linalg.matrix_norm: Order x not supported."),
      refusal([](const Tensor& x) { linalg_matrix_norm(x, 1, {0}); },
              "linalg.matrix_norm: dim must be a 2-tuple. Got 0"),
      refusal(
          [](const Tensor& x) {
            linalg_matrix_norm(x, 1, {0, 0});
          },
          "linalg.matrix_norm: dims must be different. Got (0, 0)"),
      refusal(
          [](const Tensor& x) {
            linalg_matrix_norm(x, 2, {-2, -1}, false, kHalf);
          },
          "linalg.matrix_norm: the dtype of the input (Float) should be convertible without "
          "narrowing to the specified dtype (Half)"),
      refusal([](const Tensor& x) { linalg_matrix_norm(x.to(kHalf), "nuc"); },
              "linalg.matrix_norm: Low precision dtypes not supported. Got Half"),
      refusal(
          [](const Tensor& x) {
            linalg_norm(x, 2, IntArrayRef{0, 1, 2});
          },
          "linalg.norm: If dim is specified, it must be of length 1 or 2. Got [0, 1, 2]"),
      refusal([](const Tensor& x) { linalg_norm(x.unsqueeze(0), 2); },
              "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
              "3D."),
      refusal(
          [](const Tensor& x) {
            frobenius_norm(x, {0, 1, 2});
          },
          "Expected at most 2 dimensions, but got 3 dimensions instead.")};
  return row;
}

Row cond_row() {
  Row row = matrix_row(
      "linalg_cond", {"linalg_cond"}, {unit({3, 3}), unit({2, 2, 2})},
      [](const Tensors& in) {
        const Tensor a = regular(in[0]);
        Tensors results{linalg_cond(a)};
        for (const double ord : kOrders) results.push_back(linalg_cond(a, ord));
        results.push_back(linalg_cond(a, "fro"));
        results.push_back(linalg_cond(a, "nuc"));
        return results;
      },
      [](const Arrays& in) {
        const auto each = [&](const std::function<double(const Mat&)>& norm) {
          return each_matrix(in[0], -1, -1, [&](const Mat& x) {
            return scalar_of(norm(regular(x)) * norm(inverse_of(regular(x))));
          });
        };
        Arrays results{each([](const Mat& x) { return norm_reference(x, 2); })};
        for (const double ord : kOrders)
          results.push_back(each([ord](const Mat& x) { return norm_reference(x, ord); }));
        results.push_back(each(frobenius_reference));
        results.push_back(each(nuclear_reference));
        return results;
      });
  row.slack = 100;
  row.gradient_slack = 3000;
  row.refusals = {
      {[] { linalg_cond(eye(2), 3); }, "linalg.cond got an invalid norm type: 3"},
      {[] { linalg_cond(ones({2})); },
       "linalg.cond: The input tensor must have at least 2 dimensions."},
      {[] {
         linalg_cond(ones({2, 3}), 1);
       },
       "linalg.cond(ord=1): A must be batches of square matrices, but they are 2 by 3 matrices"}};
  return row;
}

const Register registered_linalg_norm[] = {Register(norm_row()), Register(cond_row())};

using Sizes = std::vector<int64_t>;

TEST(LinalgNorm, ConditionOfSingularMatrices) {
  const Tensor zero = zeros({2, 2});
  EXPECT_EQ(linalg_cond(zero, 1).item<float>(), kInf);
  EXPECT_EQ(linalg_cond(zero, "fro").item<float>(), kInf);
  EXPECT_TRUE(std::isnan(linalg_cond(zero).item<float>()));
  EXPECT_EQ(linalg_cond(empty({2, 0, 0}), 1).sum().item<float>(), 0);
  EXPECT_EQ(linalg_cond(empty({2, 0, 3}), 1).sum().item<float>(), 0);
  EXPECT_ERROR(linalg_cond(empty({2, 0, 3}), "fro"),
               "linalg.cond(ord=fro): A must be batches of square matrices, but they are 0 by 3");
}

/// As in PyTorch, results of matrices without elements have a history.
TEST(LinalgNorm, GradientsOfEmptyMatrices) {
  for (const Sizes& sizes : {Sizes{0, 0}, Sizes{0, 3}, Sizes{2, 3, 0}, Sizes{0, 2, 2}}) {
    const Tensor x = empty(sizes, kDouble).requires_grad_();
    const auto expect_gradient = [&](const Tensor& result) {
      result.sum().backward();
      ASSERT_TRUE(x.grad().defined());
      EXPECT_EQ(sizes_of(x.grad()), sizes);
      x.mutable_grad() = Tensor();
    };
    expect_gradient(linalg_svdvals(x));
    expect_gradient(std::get<1>(linalg_svd(x)));
    expect_gradient(linalg_matrix_norm(x, "nuc"));
    expect_gradient(std::get<0>(linalg_lstsq(x, x)));
  }
}

TEST(LinalgNorm, NormsOfDimensions) {
  const Tensor x = large({2, 3, 4}, 2).tensor(kDouble);
  EXPECT_EQ(sizes_of(linalg_matrix_norm(x, 1, {2, 0}, true)), (Sizes{1, 3, 1}));
  EXPECT_TRUE(
      linalg_matrix_norm(x, 1, {2, 0}).allclose(linalg_matrix_norm(x.permute({1, 2, 0}), 1)));
  EXPECT_TRUE(linalg_matrix_norm(x, "nuc", {2, 0}, true)
                  .squeeze()
                  .allclose(linalg_matrix_norm(x.permute({1, 2, 0}), "nuc")));
  EXPECT_TRUE(linalg_norm(x).allclose(x.norm()));
  EXPECT_TRUE(linalg_norm(x[0], kInf).allclose(linalg_matrix_norm(x[0], kInf)));
  EXPECT_TRUE(linalg_norm(x, 3, 1).allclose(linalg_vector_norm(x, 3, 1)));
  EXPECT_TRUE(linalg_norm(x[0], "nuc").allclose(nuclear_norm(x[0])));
  EXPECT_EQ(linalg_matrix_norm(x.to(kFloat), 2, {-2, -1}, false, kDouble).scalar_type(), kDouble);
  EXPECT_EQ(linalg_matrix_norm(empty({0, 3}), 2).item<float>(), 0);
  EXPECT_EQ(linalg_matrix_norm(empty({3, 0}), 1).item<float>(), 0);
}

}  // namespace
}  // namespace hearth::testing
