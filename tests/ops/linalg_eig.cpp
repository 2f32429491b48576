// Eigenvalues of any square matrix, L D L^T, and products with reflections.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hearth/autograd.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/large.h"
#include "tests/ops/linalg.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

/// A matrix with the eigenvalues 1, 2, …
Tensor triangular(const Tensor& x) {
  const Tensor steps = arange(1, x.size(-1) + 1, x.options().requires_grad(false));
  return x.triu(1).add(steps.diag_embed());
}

Tensor sorted(const Tensor& x) { return std::get<0>(x.sort()); }

/// The row compares the eigenvalues, which are the diagonal, and A V - V diag(w), which is 0.
Row eig_row() {
  Row row;
  row.name = "linalg_eig";
  row.covers = {"linalg_eig", "_linalg_eig", "linalg_eigvals"};
  row.cases = {unit({3, 3}), unit({2, 4, 4}), unit({1, 1})};
  row.dtypes = dtypes::kFloatAndDouble;
  row.slack = 300;
  row.gradient_slack = 3000;
  row.orders = 1;
  row.call = [](const Tensors& in) {
    const Tensor a = triangular(in[0]);
    const auto [w, v] = linalg_eig(a);
    const Tensor rest = a.matmul(real(v)).sub(real(v).mul(real(w).unsqueeze(-2)));
    return Tensors{sorted(real(w)), sorted(real(linalg_eigvals(a))), rest};
  };
  row.reference = [](const Arrays& in) {
    std::vector<int64_t> sizes(in[0].sizes.begin(), in[0].sizes.end() - 1);
    const Array values = build(sizes, [](const Position& p) { return double(p.back() + 1); });
    return Arrays{values, values, build(in[0].sizes, [](const Position&) { return 0.0; })};
  };
  row.refusals = {
      {[] {
         linalg_eig(ones({2, 3}));
       },
       "linalg.eig: A must be batches of square matrices, but they are 2 by 3 matrices"},
      {[] { linalg_eig(ones({2})); },
       "linalg.eig: The input tensor A must have at least 2 dimensions."},
      {[] {
         linalg_eig(ones({2, 2}, kLong));
       },
       "Unknown Complex ScalarType for Long"},
      {[] {
         linalg_eigvals(ones({2, 2}, kHalf));
       },
       "\"linalg_eig_out_cpu\" not implemented for 'Half'"},
      {[] {
         linalg_eig(full({2, 2}, NAN));
       },
       "torch.linalg.eig: input tensor should not contain infs or NaNs."}};
  return row;
}

/// x + x^T + 4 I.
Tensor symmetric_of(const Tensor& x) {
  return x.add(x.mT()).add(by_name::eye(x.size(-1), x.options().requires_grad(false)).mul(4));
}

/// The row compares A X with B.
Row ldl_row() {
  Row row;
  row.name = "linalg_ldl";
  row.covers = {"_linalg_ldl_factor", "_linalg_ldl_solve"};
  row.cases = {{{{3, 3}, Draw::kUnit}, {{3, 2}}},
               {{{2, 4, 4}, Draw::kUnit}, {{4, 1}}},
               {{{1, 1}, Draw::kUnit}, {{5, 1, 2}}}};
  row.dtypes = dtypes::kFloatAndDouble;
  row.slack = 300;
  row.orders = 0;
  row.call = [](const Tensors& in) {
    const Tensor a = symmetric_of(in[0].detach()), b = in[1].detach();
    const auto [ld, pivots] = linalg_ldl_factor(a);
    const Tensor x = linalg_ldl_solve(ld, pivots, b);
    return Tensors{a.unsqueeze(-1).mul(x.unsqueeze(-3)).sum(-2)};  // A X without autocast
  };
  row.reference = [](const Arrays& in) {
    std::vector<int64_t> sizes = in[1].sizes;
    if (in[0].sizes.size() > sizes.size()) sizes.insert(sizes.begin(), in[0].sizes[0]);
    const size_t extra = sizes.size() - in[1].sizes.size();
    return Arrays{build(sizes, [&](const Position& p) {
      return at(in[1], Position(p.begin() + int64_t(extra), p.end()));
    })};
  };
  row.refusals = {
      {[] {
         linalg_ldl_factor(ones({2, 3}));
       },
       "torch.linalg.ldl_factor_ex: A must be batches of square matrices"},
      {[] {
         linalg_ldl_factor(zeros({2, 2}));
       },
       "torch.linalg.ldl_factor: "},
      {[] {
         linalg_ldl_factor_ex(zeros({2, 2}), false, true);
       },
       "torch.linalg.ldl_factor_ex: "},
      {[] {
         linalg_ldl_solve(eye(2), tensor({1, 3}), ones({2, 1}));
       },
       "pivots must be those of torch.linalg.ldl_factor"},
      {[] {
         linalg_ldl_solve(eye(2), tensor({1, -2}), ones({2, 1}));
       },
       "pivots must be those of torch.linalg.ldl_factor"},
      {[] {
         linalg_ldl_solve(eye(2), tensor({1, 2}), ones({3, 1}));
       },
       "Incompatible matrix sizes for torch.linalg.ldl_solve: each A matrix is 2 by 2 but each b "
       "matrix is 3 by 1"},
      {[] {
         linalg_ldl_solve(eye(2), tensor({1, 2, 3}), ones({2, 1}));
       },
       "Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape [3] "
       "instead"}};
  return row;
}

/// The reference multiplies by the reflections I - tau v v^T one after the other.
Row ormqr_row() {
  Row row;
  row.name = "ormqr";
  row.covers = {"ormqr"};
  row.cases = {{{{4, 3}, Draw::kUnit}, {{3}, Draw::kUnit}, {{4, 2}}},
               {{{3, 3}, Draw::kUnit}, {{3}, Draw::kUnit}, {{3, 4}}}};
  row.dtypes = dtypes::kFloatAndDouble;
  row.slack = 100;
  row.gradient_slack = 1000;
  row.call = [](const Tensors& in) { return Tensors{ormqr(in[0], in[1], in[2])}; };
  row.reference = [](const Arrays& in) {
    const int64_t m = in[0].sizes[0], k = in[1].sizes[0], n = in[2].sizes[1];
    Array out = in[2];
    for (int64_t i = k; i-- > 0;)
      for (int64_t column = 0; column < n; ++column) {
        const auto v = [&](int64_t r) { return r < i ? 0 : r == i ? 1 : at(in[0], {r, i}); };
        double product = 0;
        for (int64_t r = 0; r < m; ++r) product += v(r) * out.values[size_t(r * n + column)];
        for (int64_t r = 0; r < m; ++r)
          out.values[size_t(r * n + column)] -= in[1].values[size_t(i)] * v(r) * product;
      }
    return Arrays{out};
  };
  row.out = [](Tensor& out, const Tensors& in) { ormqr_out(out, in[0], in[1], in[2]); };
  return row;
}

const Register registered_eig[] = {Register(eig_row()), Register(ldl_row()), Register(ormqr_row())};

/// Batches large enough for several threads.
LargeCase many_eigenvalues(ScalarType dtype) {
  const Tensor a = large({60, 20, 20}, 8).tensor(dtype), s = symmetric_of(a);
  const Array zero{{60, 20, 20}, Numbers(60 * 20 * 20)};
  return {
      [=] {
        const auto [w, v] = linalg_eig(a);
        const Tensor rest = a.to(v.scalar_type()).matmul(v).sub(v.mul(w.unsqueeze(-2)));
        const auto [ld, pivots] = linalg_ldl_factor(s);
        return Tensors{real(rest), imag(rest), s.matmul(linalg_ldl_solve(ld, pivots, a)).sub(a)};
      },
      {zero, zero, zero}};
}
const RegisterLarge registered_large_eig(
    {"linalg_eig", {"Eig", "LdlFactor", "LdlSolve"}, many_eigenvalues, 3000});

TEST(LinalgEig, ComplexPairsAndEmptyMatrices) {
  const Tensor rotation = tensor({{0.0, 1.0}, {-1.0, 0.0}}, kDouble);
  const auto [w, v] = linalg_eig(rotation);
  EXPECT_EQ(w.scalar_type(), kComplexDouble);
  EXPECT_TRUE(imag(w).allclose(tensor({1.0, -1.0}, kDouble)));
  EXPECT_TRUE(real(v).select(0, 0).allclose(full({2}, std::sqrt(0.5), kDouble)));
  EXPECT_TRUE(imag(v).select(0, 1).allclose(tensor({std::sqrt(0.5), -std::sqrt(0.5)}, kDouble)));
  EXPECT_TRUE(linalg_eigvals(rotation).equal(w));
  EXPECT_EQ(std::get<1>(linalg_eig(ones({0, 0}))).scalar_type(), kComplexFloat);
}

/// A function of eigenvalues and eigenvectors that does not depend on the vectors' phases.
Tensor function_of(const Tensor& a) {
  const auto [w, v] = linalg_eig(a);
  return (w.abs() * arange(4, kDouble)).sum() +
         (v.abs().square() * arange(16, kDouble).view({4, 4})).sum();
}

TEST(LinalgEig, GradientsOfComplexPairs) {
  manual_seed(1);
  const Tensor a = randn({2, 4, 4}, kDouble).requires_grad_();
  const Tensor gradient = autograd::grad({function_of(a)}, {a})[0].reshape({-1});
  const NoGradGuard off;
  constexpr double kStep = 1e-6;
  for (int64_t i = 0; i < a.numel(); ++i) {
    Tensor step = zeros({a.numel()}, kDouble);
    step.select(0, i).fill_(kStep);
    step = step.view(a.sizes());
    const Tensor change = function_of(a + step) - function_of(a - step);
    EXPECT_NEAR(change.item<double>() / (2 * kStep), gradient[i].item<double>(), 1e-5) << i;
  }
}

TEST(LinalgEig, GradientsThatDependOnThePhaseAreRefused) {
  const Tensor a = tensor({{1.0, 2.0}, {3.0, 4.5}}, kDouble).requires_grad_();
  EXPECT_ERROR(imag(std::get<1>(linalg_eig(a))).sum().backward(),
               "linalg_eig_backward: The eigenvectors in the complex case are specified up to "
               "multiplication by e^{i phi}.");
}

TEST(LinalgLdl, FactorsOfLapack) {
  const Tensor a = tensor({{4.f, 9.f, 9.f}, {2.f, 5.f, 9.f}, {1.f, 3.f, 7.f}});
  const auto [ld, pivots] = linalg_ldl_factor(a);
  EXPECT_TRUE(ld.equal(tensor({{4.f, 0.f, 0.f}, {0.5f, 4.f, 0.f}, {0.25f, 0.625f, 5.1875f}})));
  EXPECT_TRUE(pivots.equal(tensor({1, 2, 3}, kInt)));
  const Tensor swap = tensor({{0.f, 1.f}, {1.f, 0.f}});
  const auto [block, pair] = linalg_ldl_factor(swap);
  EXPECT_TRUE(pair.equal(tensor({-2, -2}, kInt)));
  EXPECT_TRUE(linalg_ldl_solve(block, pair, tensor({{1.f}, {2.f}})).equal(tensor({{2.f}, {1.f}})));
  EXPECT_EQ(std::get<2>(linalg_ldl_factor_ex(zeros({2, 2}))).item<int>(), 1);
}

TEST(Ormqr, MultipliesByTheProductOfReflections) {
  const Tensor x = large({4, 3}, 2).tensor(kDouble), other = large({4, 4}, 5).tensor(kDouble);
  const auto [reflections, tau] = x.geqrf();
  const Tensor q = std::get<0>(linalg_qr(x, "complete"));
  EXPECT_TRUE(ormqr(reflections, tau, other).allclose(q.matmul(other)));
  EXPECT_TRUE(ormqr(reflections, tau, other, true, true).allclose(q.mT().matmul(other)));
  EXPECT_TRUE(ormqr(reflections, tau, other, false).allclose(other.matmul(q)));
  EXPECT_TRUE(ormqr(reflections, tau, other, false, true).allclose(other.matmul(q.mT())));
}

TEST(Ormqr, Refusals) {
  const Tensor x = ones({3, 2}), tau = ones({2});
  EXPECT_ERROR(ormqr(x, tau, ones({2, 2})),
               "torch.ormqr: other.shape[-2] must be equal to input.shape[-2]");
  EXPECT_ERROR(ormqr(x, tau, ones({2, 4}), false),
               "torch.ormqr: other.shape[-1] must be equal to input.shape[-2]");
  EXPECT_ERROR(ormqr(x, ones({1}), ones({3, 2})),
               "torch.ormqr: tau.shape[-1] must be equal to min(other.shape[-2], input.shape[-1])");
  EXPECT_ERROR(ormqr(x, tau.unsqueeze(0), ones({3, 2})),
               "torch.ormqr: Expected tau to have one dimension less than input, but got tau.ndim "
               "equal to 2 and input.ndim is equal to 2");
  EXPECT_ERROR(ormqr(x, tau.to(kDouble), ones({3, 2})),
               "torch.ormqr: Expected input and tau to have the same dtype");
}

}  // namespace
}  // namespace hearth::testing
