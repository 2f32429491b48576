// LU, QR, singular values and eigenvalues, against textbook algorithms.
#include <gtest/gtest.h>

#include <limits>

#include "hearth/autograd.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/large.h"
#include "tests/ops/linalg.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

std::vector<Case> rectangular_cases() {
  const auto x = [](std::vector<int64_t> sizes) { return Case{{sizes, Draw::kUnit}}; };
  return {x({3, 3}), x({4, 2}), x({2, 4}), x({2, 3, 2})};
}

/// The first rows and columns of a matrix.
Mat corner(const Mat& a, int64_t rows, int64_t columns) {
  Mat result(rows, columns);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) result(i, j) = a(i, j);
  return result;
}

Arrays lu_reference(const Arrays& in) {
  const int64_t m = in[0].sizes[in[0].sizes.size() - 2], n = in[0].sizes.back();
  const int64_t k = std::min(m, n);
  const auto p = [&](const Mat& x) {
    Mat result(m, m);
    const LuReference lu(swapping(x));
    for (int64_t i = 0; i < m; ++i) result(lu.order[size_t(i)], i) = 1;
    return result;
  };
  const auto l = [&](const Mat& x) {
    Mat result = corner(LuReference(swapping(x)).lu, m, k);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = i; j < k; ++j) result(i, j) = i == j;
    return result;
  };
  const auto u = [&](const Mat& x) {
    Mat result = corner(LuReference(swapping(x)).lu, k, n);
    for (int64_t i = 0; i < k; ++i)
      for (int64_t j = 0; j < std::min(i, n); ++j) result(i, j) = 0;
    return result;
  };
  return {each_matrix(in[0], m, m, p), each_matrix(in[0], m, k, l), each_matrix(in[0], k, n, u)};
}

Row lu_row() {
  Row row = matrix_row(
      "linalg_lu", {"linalg_lu_factor_ex", "_linalg_apply_pivots"}, rectangular_cases(),
      [](const Tensors& in) {
        const auto [p, l, u] = linalg_lu(swapping(in[0]));
        return Tensors{p, l, u};
      },
      lu_reference);
  row.slack = 300;
  row.gradient_slack = 3000;
  const Tensor lu = eye(2), pivots = tensor({1, 2}, kInt);
  row.refusals = {
      {[] { linalg_lu(ones({3})); },
       "linalg.lu: Expected tensor with 2 or more dimensions. Got size: [3] instead"},
      {[] { linalg_lu_factor_ex(eye(2, kHalf)); }, "\"lu_cpu\" not implemented for 'Half'"},
      {[=] { lu_unpack(lu, pivots.to(kLong)); },
       "LU_pivots is expected to be a contiguous tensor of torch.int32 dtype."},
      {[=] { lu_unpack(lu, pivots.add(5)); },
       "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."},
      {[=] { lu_unpack(lu, pivots.sub(1)); },
       "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you properly "
       "pass "
       "the result of lu_factor?"},
      {[=] { lu_unpack(eye(3), pivots); },
       "Expected LU_pivots to have shape [3] but got [2] instead."},
      {[=] { linalg_lu_solve(lu, pivots.add(5), lu); },
       "Pivots given to lu_solve must all be smaller or equal to LU.size(-2)."},
      {[=] { linalg_lu_solve(lu, pivots.sub(1), lu); },
       "Pivots given to lu_solve must all be greater or equal to 1. Did you properly pass the "
       "result "
       "of lu_factor?"},
      {[=] { linalg_lu_solve(eye(3), pivots, eye(3)); },
       "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the "
       "matrix"}};
  for (const Device device : devices())
    row.refusals.push_back(refusal_on(
        device, [](Device where) { linalg_lu(eye(2).to(where), false); },
        device.is_cuda() ? "linalg.lu_factor: LU without pivoting is not implemented on CUDA"
                         : "linalg.lu_factor: LU without pivoting is not implemented on the CPU"));
  return row;
}

Row qr_row(bool complete) {
  Row row = matrix_row(
      complete ? "linalg_qr_complete" : "linalg_qr", {"linalg_qr", "_linalg_qr"},
      rectangular_cases(),
      [complete](const Tensors& in) {
        const auto [q, r] = linalg_qr(swapping(in[0]), complete ? "complete" : "reduced");
        return Tensors{q, r};
      },
      [complete](const Arrays& in) {
        const int64_t m = in[0].sizes[in[0].sizes.size() - 2], n = in[0].sizes.back();
        const int64_t k = complete ? m : std::min(m, n);
        return Arrays{
            each_matrix(in[0], m, k,
                        [&](const Mat& x) { return corner(QrReference(swapping(x)).q, m, k); }),
            each_matrix(in[0], k, n,
                        [&](const Mat& x) { return corner(QrReference(swapping(x)).r, k, n); })};
      });
  if (complete) row.orders = 0;
  row.slack = 100;
  row.gradient_slack = 1000;
  row.refusals = {
      {[] { linalg_qr(eye(2), "x"); },
       "qr received unrecognized mode 'x' but expected one of 'reduced' (default), 'r', or "
       "'complete'"},
      {[] {
         linalg_qr(ones({2, 2}).requires_grad_(), "r");
         std::get<1>(linalg_qr(ones({2, 2}).requires_grad_(), "r")).sum().backward();
       },
       "The derivative of linalg.qr depends on Q, which is not computed when mode='r'."},
      {[] {
         std::get<1>(linalg_qr(ones({3, 2}).requires_grad_(), "complete")).sum().backward();
       },
       "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."}};
  return row;
}

/// A row for products of reflections I - tau v v^T.
Row householder_row() {
  Row row = matrix_row(
      "linalg_householder_product", {"linalg_householder_product"},
      {{{{4, 3}, Draw::kUnit}, {{2}, Draw::kUnit}}, {{{2, 3, 2}, Draw::kUnit}, {{2, 2}}}},
      [](const Tensors& in) {
        return Tensors{linalg_householder_product(in[0], in[1]), in[0].orgqr(in[1])};
      },
      [](const Arrays& in) {
        const int64_t m = in[0].sizes[in[0].sizes.size() - 2], n = in[0].sizes.back();
        const int64_t k = in[1].sizes.back();
        const std::vector<Mat> a = matrices_of(in[0]);
        std::vector<Mat> products;
        for (size_t b = 0; b < a.size(); ++b) {
          Mat product = Mat::identity(m);
          for (int64_t i = 0; i < k; ++i) {
            Mat v(m, 1);
            for (int64_t r = i; r < m; ++r) v(r, 0) = r == i ? 1 : a[b](r, i);
            const double tau = in[1].values[b * size_t(k) + size_t(i)];
            Mat outer = v * v.transposed();
            for (int64_t e = 0; e < m * m; ++e)
              outer.values[size_t(e)] = double(e / m == e % m) - tau * outer.values[size_t(e)];
            product = product * outer;
          }
          products.push_back(corner(product, m, n));
        }
        return Arrays(2, array_of(batch_sizes(in[0]), m, n, products));
      });
  const auto refusal = [](std::vector<int64_t> sizes, Tensor tau, std::string text) {
    return Refusal{[=] { linalg_householder_product(ones(sizes), tau); }, std::move(text)};
  };
  row.refusals = {
      refusal({2, 3}, ones({2}),
              "input.shape[-2] must be greater than or equal to input.shape[-1]"),
      refusal({3, 2}, ones({3}), "input.shape[-1] must be greater than or equal to tau.shape[-1]"),
      refusal({3, 2}, ones({2}, kDouble), "tau dtype Double does not match input dtype Float"),
      refusal({2, 3, 2}, ones({3, 1}),
              "Expected batch dimensions of tau to be equal to input.shape[:-2], but got [3]")};
  return row;
}

Row geqrf_row() {
  Row row = matrix_row(
      "geqrf", {"geqrf", "_geqrf"}, rectangular_cases(),
      [](const Tensors& in) {
        const auto [a, tau] = swapping(in[0]).geqrf();
        return Tensors{a.triu()};
      },
      [](const Arrays& in) {
        const int64_t m = in[0].sizes[in[0].sizes.size() - 2], n = in[0].sizes.back();
        return Arrays{
            each_matrix(in[0], m, n, [](const Mat& x) { return QrReference(swapping(x)).r; })};
      });
  row.orders = 0;
  row.slack = 100;
  row.refusals = {{[] { eye(2, kLong).geqrf(); }, "\"geqrf_cpu\" not implemented for 'Long'"}};
  return row;
}

/// The parts of a decomposition that do not depend on the vectors' signs: the singular values, the
/// squares of the vectors' elements, and the product of the first left and right vectors.
Tensors svd_parts(const Tensor& u, const Tensor& s, const Tensor& v) {
  return {s, u.mul(u), v.mul(v), u.narrow(-1, 0, 1).mul(v.narrow(-1, 0, 1).mT())};
}

Arrays svd_reference(const Arrays& in) {
  const int64_t m = in[0].sizes[in[0].sizes.size() - 2], n = in[0].sizes.back();
  const int64_t k = std::min(m, n);
  const auto square = [](double x) { return x * x; };
  const auto part = [&](int64_t rows, int64_t columns,
                        const std::function<Mat(const SvdReference&)>& f) {
    return each_matrix(in[0], rows, columns,
                       [&](const Mat& x) { return f(SvdReference(regular(x))); });
  };
  return {part(k, -1, [](const SvdReference& svd) { return vector_of(svd.s); }),
          part(m, k, [&](const SvdReference& svd) { return svd.u.map(square); }),
          part(n, k, [&](const SvdReference& svd) { return svd.v.map(square); }),
          part(m, n, [&](const SvdReference& svd) {
            return corner(svd.u, m, 1) * corner(svd.v, n, 1).transposed();
          })};
}

Row svd_row(std::string name, std::vector<std::string> covers,
            std::function<Tensors(const Tensor&)> call) {
  Row row = matrix_row(
      std::move(name), std::move(covers), rectangular_cases(),
      [call](const Tensors& in) { return call(regular(in[0])); }, svd_reference);
  row.slack = 2000;
  row.gradient_slack = 20000;
  return row;
}

Row reduced_svd_row() {
  Row row =
      svd_row("linalg_svd", {"linalg_svd", "_linalg_svd", "linalg_svdvals"}, [](const Tensor& a) {
        const auto [u, s, vh] = linalg_svd(a, false);
        Tensors parts = svd_parts(u, s, vh.mT());
        parts[0] = linalg_svdvals(a);
        return parts;
      });
  const Tensor nan = full({2, 2}, std::numeric_limits<double>::quiet_NaN(), kFloat);
  row.refusals = {
      {[=] { linalg_svd(nan); },
       "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite "
       "values."},
      {[] { linalg_svd(eye(2), true, "gesvd"); },
       "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
       "cuSOLVER backend."},
      {[] { linalg_svdvals(eye(2, kHalf)); }, "\"linalg_svd_cpu\" not implemented for 'Half'"},
      {[] { ones({3}).svd(); },
       "linalg.svd: input should have at least 2 dimensions, but has 1 dimensions instead"}};
  return row;
}

Row old_svd_row() {
  return svd_row("svd", {"svd"}, [](const Tensor& a) {
    const auto [u, s, v] = a.svd();
    return svd_parts(u, s, v);
  });
}

Row eigh_row() {
  const auto x = [](std::vector<int64_t> sizes) { return Case{{sizes, Draw::kUnit}}; };
  Row row = matrix_row(
      "linalg_eigh", {"linalg_eigh", "_linalg_eigh", "linalg_eigvalsh"},
      {x({3, 3}), x({2, 4, 4}), x({1, 1})},
      [](const Tensors& in) {
        const Tensor a = symmetric(in[0]);
        const auto [w, v] = linalg_eigh(a, "U");
        return Tensors{w, v.mul(v), linalg_eigvalsh(a)};
      },
      [](const Arrays& in) {
        const int64_t n = in[0].sizes.back();
        const Array values = each_matrix(in[0], n, -1, [n](const Mat& a) {
          const JacobiReference jacobi(symmetric(a));
          Mat w(n, 1);
          for (int64_t i = 0; i < n; ++i) w(i, 0) = jacobi.value(i);
          return w;
        });
        const Array squares = each_matrix(in[0], n, n, [](const Mat& a) {
          return JacobiReference(symmetric(a)).v.map([](double e) { return e * e; });
        });
        return Arrays{values, squares, values};
      });
  row.slack = 100;
  row.gradient_slack = 1000;
  row.refusals = {
      {[] { linalg_eigh(eye(2), "X"); }, "Expected UPLO argument to be 'L' or 'U', but got X"},
      {[] {
         linalg_eigvalsh(ones({2, 3}));
       },
       "linalg.eigh: A must be batches of square matrices, but they are 2 by 3 "
       "matrices"},
      {[] { linalg_eigh(eye(2, kLong)); }, "\"linalg_eigh_cpu\" not implemented for 'Long'"}};
  return row;
}

const Register registered_linalg_factors[] = {Register(lu_row()),      Register(qr_row(false)),
                                              Register(qr_row(true)),  Register(householder_row()),
                                              Register(geqrf_row()),   Register(reduced_svd_row()),
                                              Register(old_svd_row()), Register(eigh_row())};

/// Batches large enough for several threads: the products of the factors are the matrices.
LargeCase many_factors(ScalarType dtype) {
  const Large x = large({60, 30, 20}, 8);
  const Tensor a = x.tensor(dtype), s = a.mT().matmul(a);
  const Array zero{x.sizes, Numbers(x.values.size())};
  const Array small{{60, 20, 20}, Numbers(60 * 20 * 20)};
  return {[=] {
            const auto [q, r] = linalg_qr(a);
            const auto [u, values, vh] = linalg_svd(a, false);
            const auto [w, v] = linalg_eigh(s);
            return Tensors{q.matmul(r).sub(a), u.mul(values.unsqueeze(-2)).matmul(vh).sub(a),
                           v.mul(w.unsqueeze(-2)).matmul(v.mT()).sub(s)};
          },
          {zero, zero, small}};
}
const RegisterLarge registered_large_linalg_factors(
    {"linalg_factors", {"QrFactor", "HouseholderProduct", "Svd", "Eigh"}, many_factors, 200});

TEST(LinalgFactors, FullMatricesAreOrthogonal) {
  for (const auto& sizes : {std::vector<int64_t>{5, 3}, {3, 5}, {2, 4, 2}, {3, 0}, {0, 3}}) {
    const Tensor a =
        sizes.back() && sizes[0] ? large(sizes, 4).tensor(kDouble) : empty(sizes, kDouble);
    const auto [u, s, vh] = linalg_svd(a);
    const auto identity = [](const Tensor& q) {
      return eye(q.size(-1), kDouble).expand(q.sizes());
    };
    EXPECT_TRUE(u.mT().matmul(u).allclose(identity(u))) << sizes.size() << sizes[0];
    EXPECT_TRUE(vh.matmul(vh.mT()).allclose(identity(vh))) << sizes.size() << sizes[0];
    EXPECT_EQ(u.size(-1), a.size(-2));
    EXPECT_EQ(vh.size(-1), a.size(-1));
    const auto [q, r] = linalg_qr(a, "complete");
    EXPECT_TRUE(q.mT().matmul(q).allclose(identity(q))) << sizes.size() << sizes[0];
    EXPECT_TRUE(q.matmul(r).allclose(a)) << sizes.size() << sizes[0];
  }
}

TEST(LinalgFactors, ValuesOnly) {
  const Tensor a = large({2, 3, 4}, 4).tensor(kDouble);
  const auto [u, s, v] = a.svd(true, false);
  EXPECT_TRUE(s.allclose(linalg_svdvals(a)));
  EXPECT_EQ(u.abs().sum().item<double>(), 0);
  EXPECT_EQ(v.sizes().vec(), (std::vector<int64_t>{2, 4, 4}));
  const auto [q, r] = linalg_qr(a, "r");
  EXPECT_EQ(q.sizes().vec(), (std::vector<int64_t>{0}));
  EXPECT_TRUE(r.allclose(std::get<1>(linalg_qr(a))));
  const Tensor square = a.matmul(a.mT());
  EXPECT_TRUE(linalg_eigvalsh(square).allclose(std::get<0>(linalg_eigh(square))));
}

TEST(LinalgFactors, NonFiniteMatrices) {
  for (const double bad : {double(NAN), std::numeric_limits<double>::infinity()}) {
    const Tensor a = full({2, 2}, bad, kDouble);
    EXPECT_TRUE(std::get<0>(linalg_eigh(a)).isnan().all().item<bool>());
    EXPECT_TRUE(std::get<1>(linalg_eigh(a)).isnan().all().item<bool>());
  }
  const Tensor a = full({2, 2}, std::numeric_limits<double>::infinity(), kDouble);
  EXPECT_TRUE(linalg_svdvals(a).isnan().all().item<bool>());
}

/// For NaN, OpenBLAS itself reports no error.
TEST(LinalgFactors, CholeskyOfNaN) {
  const Tensor a = eye(3, kDouble).mul(4);
  a[1][0].fill_(NAN);
  EXPECT_EQ(std::get<1>(linalg_cholesky_ex(a)).item<int>(), 2);
  EXPECT_ERROR(linalg_cholesky(full({2, 2}, NAN)), "leading minor of order 1");
}

TEST(LinalgFactors, GradientOfEigenvectorsIsSymmetric) {
  const Tensor a = symmetric(large({4, 4}, 3).tensor(kDouble)).requires_grad_();
  const Tensor v = std::get<1>(linalg_eigh(a));
  const Tensor g = autograd::grad({v.mul(v).mul(arange(16).square().view({4, 4})).sum()}, {a})[0];
  EXPECT_GT(g.abs().max().item<double>(), 1e-3);
  EXPECT_TRUE(g.allclose(g.mT()));
}

/// Only the requested triangle is read.
TEST(LinalgFactors, OneTriangleIsRead) {
  const Tensor a = tensor({2., 100., 1., 3.}, kDouble).view({2, 2});
  const Tensor lower = tensor({2., 1., 1., 3.}, kDouble).view({2, 2});
  const Tensor upper = tensor({200., 100., 100., 300.}, kDouble).view({2, 2});
  EXPECT_TRUE(linalg_eigvalsh(a).allclose(linalg_eigvalsh(lower)));
  EXPECT_TRUE(linalg_cholesky(a).allclose(linalg_cholesky(lower)));
  const Tensor b = tensor({200., 100., 7., 300.}, kDouble).view({2, 2});
  EXPECT_TRUE(linalg_eigvalsh(b, "u").allclose(linalg_eigvalsh(upper)));
  EXPECT_TRUE(linalg_cholesky(b, true).allclose(linalg_cholesky(upper).mT()));
}

}  // namespace
}  // namespace hearth::testing
