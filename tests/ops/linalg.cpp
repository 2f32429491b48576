// Inverses, solutions, determinants and the Cholesky factorization, against textbook algorithms.
#include "tests/ops/linalg.h"

#include <gtest/gtest.h>

#include <limits>

#include "hearth/autograd.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/large.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

Arrays inverse_reference(const Arrays& in) {
  const int64_t n = in[0].sizes.back();
  return {each_matrix(in[0], n, n, [](const Mat& x) { return inverse_of(regular(x)); })};
}

Row inverse_row() {
  Row row = matrix_row(
      "linalg_inv", {"linalg_inv", "_linalg_solve_ex"}, square_cases(),
      [](const Tensors& in) { return Tensors{linalg_inv(regular(in[0]))}; }, inverse_reference);
  row.out = [](Tensor& out, const Tensors& in) { linalg_inv_out(out, regular(in[0])); };
  row.refusals = {
      {[] { linalg_inv(ones({3})); },
       "linalg.inv: The input tensor A must have at least 2 dimensions."},
      {[] {
         linalg_inv(ones({2, 3}));
       },
       "linalg.inv: A must be batches of square matrices, but they are 2 by 3 matrices"},
      {[] { linalg_inv(eye(2, kHalf)); },
       "linalg.inv: Low precision dtypes not supported. Got Half"},
      {[] { linalg_inv(eye(2, kLong)); },
       "linalg.inv: Expected a floating point or complex tensor as input. Got Long"},
      {[] { linalg_inv(eye(2, kComplexFloat)); }, "not implemented for 'ComplexFloat'"}};
  return row;
}

/// The solutions of regular(a) X = b for batches that broadcast.
Array solve_reference(const Array& a, const Array& b, bool vectors) {
  const std::vector<Mat> left = matrices_of(a);
  Array right = b;
  if (vectors) right.sizes.push_back(1);
  std::vector<Mat> solutions;
  const std::vector<Mat> right_sides = matrices_of(right);
  const size_t count = std::max(left.size(), right_sides.size());
  for (size_t i = 0; i < count; ++i)
    solutions.push_back(
        LuReference(regular(left[i % left.size()])).solve(right_sides[i % right_sides.size()]));
  const bool has_batch_of_a = left.size() > right_sides.size();
  Array result = array_of(batch_sizes(has_batch_of_a ? a : right),
                          b.sizes.empty() ? -1 : a.sizes.back(), right.sizes.back(), solutions);
  if (vectors) result.sizes.pop_back();
  return result;
}

Row solve_row(std::string name, std::vector<Case> cases, bool vectors) {
  Row row = matrix_row(
      std::move(name), {"linalg_solve"}, std::move(cases),
      [](const Tensors& in) { return Tensors{linalg_solve(regular(in[0]), in[1])}; },
      [vectors](const Arrays& in) { return Arrays{solve_reference(in[0], in[1], vectors)}; });
  row.out = [](Tensor& out, const Tensors& in) { linalg_solve_out(out, regular(in[0]), in[1]); };
  return row;
}

Row matrix_solve_row() {
  Row row = solve_row("linalg_solve",
                      {{{{3, 3}, Draw::kUnit}, {{3, 2}}},
                       {{{2, 3, 3}, Draw::kUnit}, {{3, 2}}},
                       {{{2, 2}, Draw::kUnit}, {{3, 2, 1}}},
                       {{{2, 3, 3}, Draw::kUnit}, {{2, 3, 2}}},
                       {{{0, 0}}, {{0, 2}}}},
                      false);
  const auto refusal = [](Tensor a, Tensor b, bool left, std::string text) {
    return Refusal{[=] { linalg_solve(a, b, left); }, std::move(text)};
  };
  const Tensor a = eye(3), singular = zeros({2, 2});
  row.refusals = {
      refusal(a, ones({2, 3}), true,
              "linalg.solve: Incompatible shapes of A and B for the equation AX = B (3x3 and 2x3)"),
      refusal(a, ones({3, 2}), false,
              "linalg.solve: Incompatible shapes of A and B for the equation XA = B (3x3 and 3x2)"),
      refusal(a, ones({3, 2}, kDouble), true,
              "linalg.solve: Expected A and B to have the same dtype, but found A of type Float "
              "and B of type Double instead"),
      refusal(a, ones({}), true,
              "linalg.solve: The input tensor B must have at least 2 dimensions."),
      refusal(a.expand({2, 3, 3}), ones({3, 3, 2}), true,
              "must match the size of tensor b (3) at non-singleton dimension 0"),
      refusal(singular, ones({2}), true,
              "torch.linalg.solve: The solver failed because the input matrix is singular."),
      refusal(stack({eye(2), singular}), ones({2, 2}), true,
              "torch.linalg.solve: (Batch element 1): The solver failed because the input matrix "
              "is singular.")};
  return row;
}

Row other_solves_row() {
  Row row = matrix_row(
      "linalg_other_solves", {"linalg_solve_ex", "linalg_lu_solve", "lu_solve"},
      {{{{3, 3}, Draw::kUnit}, {{3, 2}}}, {{{2, 2, 2}, Draw::kUnit}, {{2, 2, 1}}}},
      [](const Tensors& in) {
        const Tensor a = regular(in[0]);
        const auto [lu, pivots] = linalg_lu_factor(a);
        const auto [lu_t, pivots_t] = linalg_lu_factor(a.mT());
        return Tensors{std::get<0>(linalg_solve_ex(a.mT(), in[1].mT(), false)).mT(),
                       linalg_lu_solve(lu, pivots, in[1]),
                       linalg_lu_solve(lu_t, pivots_t, in[1], true, true),
                       linalg_lu_solve(lu_t, pivots_t, in[1].mT(), false).mT(),
                       linalg_lu_solve(lu, pivots, in[1].mT(), false, true).mT(),
                       in[1].lu_solve(lu, pivots)};
      },
      [](const Arrays& in) { return Arrays(6, solve_reference(in[0], in[1], false)); });
  row.covers.push_back("_linalg_apply_pivots");
  return row;
}

/// The triangle that the functions read, with zeros elsewhere and, if `unit`, ones on the diagonal.
Mat triangle_of(const Mat& a, bool upper, bool unit) {
  Mat t = a;
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.rows; ++j) {
      if (upper ? j < i : j > i) t(i, j) = 0;
      if (i == j && unit) t(i, j) = 1;
    }
  return t;
}

Row triangular_row(bool upper, bool left, bool unit) {
  std::string name = "linalg_solve_triangular";
  name += std::string(upper ? "_upper" : "_lower") + (left ? "" : "_right") + (unit ? "_unit" : "");
  Row row = matrix_row(
      name, {"linalg_solve_triangular"},
      {{{{3, 3}, Draw::kUnit}, {{3, 3}}}, {{{2, 2, 2}, Draw::kUnit}, {{2, 2, 2}}}},
      [=](const Tensors& in) {
        return Tensors{linalg_solve_triangular(regular(in[0]), in[1], upper, left, unit)};
      },
      [=](const Arrays& in) {
        const std::vector<Mat> a = matrices_of(in[0]), b = matrices_of(in[1]);
        std::vector<Mat> x;
        for (size_t i = 0; i < a.size(); ++i) {
          const Mat inverse = inverse_of(triangle_of(regular(a[i]), upper, unit));
          x.push_back(left ? inverse * b[i] : b[i] * inverse);
        }
        return Arrays{array_of(batch_sizes(in[1]), x[0].rows, x[0].columns, x)};
      });
  row.slack = 200;
  row.gradient_slack = 200;
  return row;
}

Row old_triangular_row() {
  Row row = matrix_row(
      "triangular_solve", {"triangular_solve"}, {{{{3, 2}}, {{3, 3}, Draw::kUnit}}},
      [](const Tensors& in) {
        const Tensor a = regular(in[1]);
        return Tensors{std::get<0>(in[0].triangular_solve(a)),
                       std::get<0>(in[0].triangular_solve(a, false, true)),
                       std::get<1>(triangular_solve(in[0], a))};
      },
      [](const Arrays& in) {
        const Mat a = regular(matrices_of(in[1])[0]), b = matrices_of(in[0])[0];
        const Mat x = inverse_of(triangle_of(a, true, false)) * b;
        const Mat y = inverse_of(triangle_of(a, false, false).transposed()) * b;
        return Arrays{array_of({}, 3, 2, {x}), array_of({}, 3, 2, {y}), array_of({}, 3, 3, {a})};
      });
  row.refusals = {
      {[] {
         ones({2, 2}).triangular_solve(eye(3));
       },
       "Incompatible matrix sizes for triangular_solve: each A matrix is 3 by 3 but each b matrix "
       "is 2 by 2"},
      {[] { ones({3}).triangular_solve(eye(3)); },
       "torch.triangular_solve: Expected b to have at least 2 dimensions, but it has 1 dimensions "
       "instead"}};
  return row;
}

Row det_row() {
  Row row = matrix_row(
      "linalg_det", {"linalg_det", "_linalg_det", "linalg_slogdet", "_linalg_slogdet"},
      square_cases(),
      [](const Tensors& in) {
        const Tensor a = regular(in[0]), b = swapping(in[0]);
        return Tensors{linalg_det(b), a.logdet(), std::get<1>(linalg_slogdet(b)),
                       std::get<0>(b.slogdet())};
      },
      [](const Arrays& in) {
        const auto each = [&](const std::function<double(const Mat&)>& f) {
          return each_matrix(in[0], -1, -1, [&](const Mat& x) { return scalar_of(f(x)); });
        };
        const auto det = [](const Mat& x) { return LuReference(x).det(); };
        const auto swapping_det = [=](const Mat& x) { return det(swapping(x)); };
        return Arrays{each(swapping_det),
                      each([&](const Mat& x) { return std::log(det(regular(x))); }),
                      each([&](const Mat& x) { return std::log(std::fabs(swapping_det(x))); }),
                      each([&](const Mat& x) { return swapping_det(x) > 0 ? 1.0 : -1.0; })};
      });
  row.slack = 300;
  row.gradient_slack = 3000;
  row.refusals = {
      {[] {
         ones({2, 3}).det();
       },
       "linalg.det: A must be batches of square matrices, but they are 2 by 3 matrices"},
      {[] { eye(2, kHalf).det(); }, "\"lu_cpu\" not implemented for 'Half'"},
      {[] { ones({3}).logdet(); }, "logdet: The input tensor A must have at least 2 dimensions."}};
  return row;
}

/// Symmetric, positive definite matrices: x + x^T + 8 I.
Mat as_positive(const Mat& x) {
  Mat result = regular(x);
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t j = 0; j < x.rows; ++j) result(i, j) += x(j, i);
  for (int64_t i = 0; i < x.rows; ++i) result(i, i) += 4;
  return result;
}
Tensor as_positive(const Tensor& x) { return regular(regular(x.add(x.mT()))); }

Row cholesky_row() {
  Row row = matrix_row(
      "linalg_cholesky", {"linalg_cholesky", "linalg_cholesky_ex", "_linalg_cholesky_ex"},
      square_cases(),
      [](const Tensors& in) {
        const Tensor a = as_positive(in[0]);
        return Tensors{linalg_cholesky(a), std::get<0>(linalg_cholesky_ex(a, true)).mT()};
      },
      [](const Arrays& in) {
        const int64_t n = in[0].sizes.back();
        return Arrays(
            2, each_matrix(in[0], n, n, [](const Mat& x) { return cholesky_of(as_positive(x)); }));
      });
  row.refusals = {
      {[] { linalg_cholesky(eye(2).neg()); },
       "linalg.cholesky: The factorization could not be completed because the input is not "
       "positive-definite (the leading minor of order 1 is not positive-definite)."},
      {[] {
         linalg_cholesky_ex(stack({eye(2), zeros({2, 2})}), false, true);
       },
       "linalg.cholesky_ex: (Batch element 1): The factorization could not be completed"},
      {[] { linalg_cholesky(eye(2, kHalf)); }, "\"cholesky_cpu\" not implemented for 'Half'"}};
  return row;
}

Row cholesky_solve_row() {
  Row row = matrix_row(
      "cholesky_solve", {"cholesky_solve", "cholesky_inverse"},
      {{{{3, 2}}, {{3, 3}, Draw::kUnit}}, {{{2, 2, 1}}, {{2, 2}, Draw::kUnit}}},
      [](const Tensors& in) {
        const Tensor l = regular(in[1]);
        return Tensors{in[0].cholesky_solve(l), cholesky_solve(in[0], l.mT(), true),
                       l.cholesky_inverse(), cholesky_inverse(l.mT(), true)};
      },
      [](const Arrays& in) {
        const int64_t n = in[1].sizes.back();
        const Mat l = triangle_of(regular(matrices_of(in[1])[0]), false, false);
        const Mat inverse = inverse_of(l * l.transposed());
        const Array x =
            each_matrix(in[0], n, in[0].sizes.back(), [&](const Mat& b) { return inverse * b; });
        const Array a = array_of({}, n, n, {inverse});
        return Arrays{x, x, a, a};
      });
  row.refusals = {
      {[] {
         cholesky_solve(ones({2, 2}), eye(3));
       },
       "Incompatible matrix sizes for cholesky_solve: each A matrix is 3 by 3 but each b matrix is "
       "2 by 2"},
      {[] {
         zeros({2, 2}).cholesky_inverse();
       },
       "cholesky_inverse: The diagonal element 1 is zero, the inversion could not be completed "
       "because the input matrix is singular."}};
  return row;
}

Row other_inverses_row() {
  Row row = matrix_row(
      "inverse", {"inverse", "linalg_inv_ex"}, {{{{3, 3}, Draw::kUnit}}},
      [](const Tensors& in) {
        const Tensor a = regular(in[0]);
        return Tensors{a.inverse(), std::get<0>(linalg_inv_ex(a)), a.matrix_power(-1)};
      },
      [](const Arrays& in) { return Arrays(3, inverse_reference(in)[0]); });
  return row;
}

const Register registered_linalg[] = {
    Register(inverse_row()),
    Register(matrix_solve_row()),
    Register(solve_row("linalg_solve_vectors",
                       {{{{3, 3}, Draw::kUnit}, {{3}}}, {{{2, 3, 3}, Draw::kUnit}, {{2, 3}}}},
                       true)),
    Register(other_solves_row()),
    Register(triangular_row(true, true, false)),
    Register(triangular_row(false, true, true)),
    Register(triangular_row(true, false, true)),
    Register(triangular_row(false, false, false)),
    Register(old_triangular_row()),
    Register(det_row()),
    Register(cholesky_row()),
    Register(cholesky_solve_row()),
    Register(other_inverses_row())};

/// Batches large enough for several threads: A X - B and L L^T - S are zero.
LargeCase many_systems(ScalarType dtype) {
  const Large x = large({90, 40, 40}, 5), y = large({90, 40, 3}, 6);
  const Tensor a = x.tensor(dtype).add(eye(40, dtype).mul(20)), b = y.tensor(dtype);
  const Tensor s = a.add(a.mT());
  const Array zero_b{y.sizes, Numbers(y.values.size())};
  const Array zero_a{x.sizes, Numbers(x.values.size())};
  return {[=] {
            const Tensor l = linalg_cholesky(s);
            return Tensors{a.matmul(linalg_solve(a, b)).sub(b), l.matmul(l.mT()).sub(s).mul(0.1)};
          },
          {zero_b, zero_a}};
}
const RegisterLarge registered_large_linalg(
    {"linalg", {"LuFactor", "ApplyPivots", "TriangularSolve", "Cholesky"}, many_systems, 30});

/// det is differentiable also where the matrix is singular: the gradient has the cofactors.
TEST(Linalg, DeterminantOfASingularMatrixHasAGradient) {
  for (const bool create_graph : {false, true}) {
    const Tensor a =
        tensor({1., 0., 0., 0., 0., 0., 0., 0., 2.}, kDouble).view({3, 3}).requires_grad_();
    const Tensor g = autograd::grad({a.det()}, {a}, {}, {}, create_graph)[0];
    const Tensor wanted = zeros({3, 3}, kDouble);
    wanted.data_ptr<double>()[4] = 2;
    EXPECT_TRUE(g.detach().allclose(wanted, 1e-9, 1e-9)) << create_graph << g;
    const Tensor b = tensor({1., 2., 2., 4.}, kDouble).view({2, 2}).requires_grad_();
    const Tensor h = autograd::grad({b.det()}, {b}, {}, {}, create_graph)[0];
    EXPECT_TRUE(h.detach().flatten().allclose(tensor({4., -2., -2., 1.}, kDouble), 1e-9, 1e-9));
  }
}

TEST(Linalg, DeterminantsOfSpecialMatrices) {
  EXPECT_EQ(zeros({2, 2}).det().item<float>(), 0);
  EXPECT_EQ(zeros({2, 2}).logdet().item<float>(), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(eye(3).neg().logdet().item<float>()));
  EXPECT_EQ(ones({0, 0}).det().item<float>(), 1);
}

TEST(Linalg, SingularMatrices) {
  for (const Device device : devices()) {
    const Tensor a = tensor({1., 0., 0., 0., 0., 0., 0., 0., 2.}, kFloat).view({3, 3}).to(device);
    EXPECT_EQ(std::get<1>(linalg_inv_ex(a)).item<int>(), 2);
    EXPECT_EQ(std::get<1>(linalg_solve_ex(a, ones({3}, a.options()))).item<int>(), 2);
    EXPECT_THROW(linalg_inv(a), LinAlgError);
    EXPECT_ERROR(stack({eye(3, a.options()), a}).inverse(),
                 "linalg.inv: (Batch element 1): The diagonal element 2 is zero, the inversion "
                 "could not be completed because the input matrix is singular.");
    EXPECT_ERROR(linalg_lu_factor(a), "torch.linalg.lu_factor: U[2,2] is zero");
  }
}

/// Inputs may have any layout; results have the layouts of LAPACK, as in PyTorch.
TEST(Linalg, Layouts) {
  const Tensor a = regular(large({2, 6, 6}, 3).tensor(kDouble));
  const Tensor contiguous = a.slice(1, 0, 6, 2).slice(2, 1, 6, 2).add(0);
  const Tensor strided = a.slice(1, 0, 6, 2).slice(2, 1, 6, 2);
  const Tensor shifted = strided.add(eye(3, kDouble).mul(9));
  EXPECT_TRUE(linalg_inv(shifted).allclose(linalg_inv(contiguous.add(eye(3, kDouble).mul(9)))));
  EXPECT_TRUE(linalg_solve(a.mT(), a).allclose(linalg_solve(a.mT().contiguous(), a)));
  EXPECT_TRUE(strided.det().allclose(contiguous.det()));
  EXPECT_EQ(linalg_inv(a).strides().vec(), (std::vector<int64_t>{36, 1, 6}));
  EXPECT_EQ(linalg_solve(a, a, false).strides().vec(), (std::vector<int64_t>{36, 6, 1}));
  EXPECT_EQ(linalg_inv(empty({2, 0, 0})).sizes().vec(), (std::vector<int64_t>{2, 0, 0}));
  EXPECT_EQ(linalg_inv(empty({0, 3, 3})).sizes().vec(), (std::vector<int64_t>{0, 3, 3}));
  EXPECT_EQ(linalg_inv(empty({2, 3, 3}, kMeta)).strides().vec(), (std::vector<int64_t>{9, 1, 3}));
  const Tensor moved = a.slice(1, 0, 2).transpose(0, 2);  // six matrices of 2 x 2
  EXPECT_TRUE(moved.det().allclose(moved.contiguous().det()));
}

TEST(TriangularSystems, SolvesATriangularSystemInTheMatrixsDtype) {
  const Tensor a = eye(2) * 2, b = ones({2, 1}, kDouble).requires_grad_();
  const Tensor x = linalg_solve_triangular(a, b, true);
  EXPECT_EQ(x.scalar_type(), kFloat);
  EXPECT_TRUE(x.equal(full({2, 1}, 0.5f)));
  x.sum().backward();
  EXPECT_TRUE(b.grad().equal(full({2, 1}, 0.5, kDouble)));
  EXPECT_EQ(linalg_solve_triangular(a.to(kDouble), ones({2, 1}, kInt), true).scalar_type(),
            kDouble);
  // As in PyTorch, without the imaginary parts.
  EXPECT_TRUE(linalg_solve_triangular(a, make_complex(ones({2, 1}), full({2, 1}, 3.0)), true)
                  .equal(full({2, 1}, 0.5f)));
}

}  // namespace
}  // namespace hearth::testing
