// Linear algebra with LibTorch's API.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/compat/texts.h"

namespace {

using hearth::testing::text_of_error;

torch::Tensor square_matrix() {
  return torch::tensor({4., 1., 0., 1., 3., -1., 0., 2., 5.}, torch::kDouble).view({3, 3});
}

/// Whether f throws an error that begins with the text.
template <class F>
bool throws(const F& f, const std::string& text) {
  return text_of_error(f).rfind(text, 0) == 0;
}

TEST(Linalg, SolutionsAndInverses) {
  const auto a = square_matrix(), b = torch::ones({3, 2}, torch::kDouble);
  EXPECT_TRUE(torch::linalg_inv(a).matmul(a).allclose(torch::eye(3, torch::kDouble)));
  EXPECT_TRUE(a.inverse().equal(torch::inverse(a)));
  EXPECT_TRUE(a.matmul(torch::linalg_solve(a, b)).allclose(b));
  EXPECT_TRUE(torch::linalg_solve(a, b.t(), false).matmul(a).allclose(b.t()));
  const auto [x, info] = torch::linalg_solve_ex(a, b.select(1, 0));
  EXPECT_EQ(x.dim(), 1);
  EXPECT_EQ(info.scalar_type(), torch::kInt);
  EXPECT_EQ(info.item<int>(), 0);
  EXPECT_TRUE(
      torch::linalg_solve_triangular(a, b, true).allclose(std::get<0>(b.triangular_solve(a))));
  EXPECT_EQ(std::get<0>(torch::linalg_inv_ex(a, true)).stride(0), 1);
}

TEST(Linalg, Determinants) {
  const auto a = square_matrix();
  EXPECT_NEAR(a.det().item<double>(), 63, 1e-9);
  EXPECT_TRUE(torch::linalg_det(a).log().allclose(a.logdet()));
  const auto [sign, logabsdet] = torch::linalg_slogdet(a.neg());
  EXPECT_EQ(sign.item<double>(), -1);
  EXPECT_TRUE(logabsdet.allclose(std::get<1>(a.slogdet())));
}

TEST(Linalg, Factors) {
  const auto a = square_matrix(), s = a.matmul(a.t());
  const auto l = torch::linalg_cholesky(s);
  EXPECT_TRUE(l.matmul(l.t()).allclose(s));
  EXPECT_TRUE(a.cholesky_solve(l).allclose(torch::linalg_solve(s, a)));
  EXPECT_TRUE(torch::cholesky_inverse(l).allclose(s.inverse()));
  const auto [q, r] = torch::linalg_qr(a, "complete");
  EXPECT_TRUE(q.matmul(r).allclose(a));
  const auto [p, lower, upper] = torch::linalg_lu(a);
  EXPECT_TRUE(p.matmul(lower).matmul(upper).allclose(a));
  const auto [lu, pivots] = torch::linalg_lu_factor(a);
  EXPECT_TRUE(torch::linalg_lu_solve(lu, pivots, s).allclose(torch::linalg_solve(a, s)));
  EXPECT_TRUE(std::get<1>(torch::lu_unpack(lu, pivots)).allclose(lower));
  const auto [u, values, vh] = torch::linalg_svd(a);
  EXPECT_TRUE(u.mul(values).matmul(vh).allclose(a));
  EXPECT_TRUE(std::get<1>(torch::svd(a)).allclose(torch::linalg_svdvals(a)));
  const auto [w, v] = torch::linalg_eigh(s, "U");
  EXPECT_TRUE(v.mul(w).matmul(v.t()).allclose(s));
  EXPECT_TRUE(torch::linalg_eigvalsh(s).allclose(values.pow(2).flip({0})));
  const auto [packed, tau] = a.geqrf();
  EXPECT_TRUE(torch::linalg_householder_product(packed, tau).allclose(q));
}

TEST(Linalg, LeastSquaresAndNorms) {
  const auto a = square_matrix().slice(1, 0, 2), b = torch::ones({3, 1}, torch::kDouble);
  const auto [x, residuals, rank, values] = torch::linalg_lstsq(a, b, std::nullopt, "gelsd");
  EXPECT_TRUE(x.allclose(torch::linalg_pinv(a).matmul(b)));
  EXPECT_TRUE(residuals.allclose(a.matmul(x).sub(b).pow(2).sum(0)));
  EXPECT_EQ(rank.item<int64_t>(), 2);
  EXPECT_TRUE(values.allclose(torch::linalg_svdvals(a)));
  EXPECT_EQ(torch::linalg_matrix_rank(square_matrix()).item<int64_t>(), 3);
  EXPECT_TRUE(torch::linalg_norm(a).allclose(torch::linalg_matrix_norm(a)));
  EXPECT_TRUE(torch::linalg_norm(a, "nuc").allclose(torch::nuclear_norm(a)));
  EXPECT_TRUE(torch::linalg_matrix_norm(a, 2).allclose(values[0]));
  EXPECT_TRUE(torch::linalg_cond(a).allclose(values[0] / values[1]));
  EXPECT_TRUE(a.pinverse().allclose(torch::linalg_pinv(a)));
}

TEST(Linalg, Products) {
  const auto a = square_matrix();
  EXPECT_TRUE(a.matrix_power(-2).allclose(torch::linalg_inv(a.matmul(a))));
  EXPECT_TRUE(a.matrix_exp()
                  .matmul(torch::matrix_exp(-a))
                  .allclose(torch::eye(3, torch::kDouble), 1e-5, 1e-7));
  EXPECT_TRUE(torch::linalg_multi_dot({a, a, a}).allclose(torch::matrix_power(a, 3)));
  EXPECT_TRUE(torch::linalg_vecdot(a, a).allclose(a.pow(2).sum(-1)));
  EXPECT_EQ(torch::linalg_vander(a[0], 4).size(1), 4);
  EXPECT_TRUE(torch::linalg_tensorinv(a, 1).allclose(a.inverse()));
  EXPECT_TRUE(torch::linalg_tensorsolve(a, a[0]).allclose(torch::linalg_solve(a, a[0])));
}

TEST(Linalg, OutForms) {
  const auto a = square_matrix();
  auto out = torch::empty({0}, torch::kDouble), second = torch::empty({0}, torch::kDouble);
  EXPECT_TRUE(torch::linalg_inv_out(out, a).equal(a.inverse()));
  torch::linalg_qr_out(out, second, a);
  EXPECT_TRUE(out.matmul(second).allclose(a));
}

TEST(Linalg, Errors) {
  const auto singular = torch::diag(torch::tensor({1., 0., 2.}, torch::kDouble));
  EXPECT_THROW(torch::linalg_inv(singular), c10::LinAlgError);
  EXPECT_TRUE(throws([&] { torch::linalg_inv(singular); },
                     "linalg.inv: The diagonal element 2 is zero, the inversion could not be "
                     "completed because the input matrix is singular."));
  EXPECT_TRUE(
      throws([&] { torch::linalg_solve(singular, torch::ones({3}, torch::kDouble)); },
             "torch.linalg.solve: The solver failed because the input matrix is singular."));
  EXPECT_TRUE(throws([&] { torch::linalg_cholesky(singular.neg()); },
                     "linalg.cholesky: The factorization could not be completed because the input "
                     "is not positive-definite (the leading minor of order 1 is not "
                     "positive-definite)."));
  EXPECT_TRUE(throws(
      [&] {
        torch::linalg_det(torch::ones({2, 3}));
      },
      "linalg.det: A must be batches of square matrices, but they are 2 by 3 "
      "matrices"));
  EXPECT_TRUE(throws([&] { torch::linalg_inv(torch::ones({3})); },
                     "linalg.inv: The input tensor A must have at least 2 dimensions."));
}

TEST(Linalg, Gradients) {
  auto a = square_matrix().requires_grad_();
  const auto g = torch::autograd::grad({a.logdet()}, {a}, {}, true, true)[0];
  EXPECT_TRUE(g.allclose(a.detach().inverse().t()));
  const auto second = torch::autograd::grad({g.sum()}, {a})[0];
  const auto inverse = a.detach().inverse();
  EXPECT_TRUE(second.allclose(inverse.sum(0).outer(inverse.sum(1)).neg()));
}

#if __has_include("hearth/hearth.h")  // earlier versions of LibTorch have it
TEST(Linalg, NamespaceOfEarlierVersions) {
  const auto a = square_matrix();
  EXPECT_TRUE(torch::linalg::inv(a).equal(torch::linalg_inv(a)));
  EXPECT_TRUE(torch::linalg::det(a).equal(torch::linalg_det(a)));
  EXPECT_TRUE(torch::linalg::solve(a, a).allclose(torch::eye(3, torch::kDouble)));
  EXPECT_EQ(torch::linalg::vector_norm(a, 2, {-1}, true, torch::kDouble).size(1), 1);
  EXPECT_TRUE(torch::linalg::norm(a, 1, {0}).equal(torch::linalg_norm(a, 1, {0})));
  EXPECT_TRUE(torch::linalg::norm(a, "fro").allclose(torch::linalg::norm(a)));
  const auto [u, s, vh] = torch::linalg::svd(a, false);
  EXPECT_TRUE(s.allclose(torch::linalg::svdvals(a)));
  EXPECT_EQ(torch::linalg::matrix_rank(a).item<int64_t>(), 3);
}
#endif

}  // namespace
