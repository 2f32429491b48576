// Distances, Fourier transforms and linear algebra.
#include "tests/gpu/support.h"

namespace hearth::testing {
namespace {

using Distances = OnGpu;
using Fourier = OnGpu;
using LinearAlgebra = OnGpu;

TEST_F(Distances, MatchTheCpu) {
  const int64_t rows = by_gpu(/*real=*/300, /*simulated=*/35);
  for (const ScalarType dtype : {kFloat, kDouble})
    for (const double p : {0.0, 1.0, 1.5, 2.0, 3.0, HUGE_VAL}) {
      const std::string name = "p = " + std::to_string(p);
      expect_same_gradients(
          {numbers({2, rows, 19}), numbers({2, 50, 19})}, dtype,
          [p](const Tensors& t) { return cdist(t[0], t[1], p, 2); }, "cdist, " + name, 10);
      if (p > 0)
        expect_same_gradients(
            {numbers({rows, 19})}, dtype, [p](const Tensors& t) { return pdist(t[0], p); },
            "pdist, " + name, 10);
    }
}

TEST_F(Fourier, MatchTheCpu) {
  const int64_t large = by_gpu(/*real=*/1 << 12, /*simulated=*/1 << 6);
  for (const ScalarType dtype : {kFloat, kDouble})
    for (const int64_t n : {int64_t{1}, int64_t{2}, int64_t{15}, int64_t{31}, large}) {
      const Tensor x = numbers({3, n, 5});
      const auto same = [&](const char* name, const std::function<Tensor(const Tensor&)>& call) {
        expect_same_gradients(
            {x}, dtype, [&](const Tensors& t) { return call(t[0]); },
            name + std::string(" of ") + std::to_string(n), 10);
      };
      same("rfft", [](const Tensor& t) { return view_as_real(fft_rfft(t, {}, 1)); });
      same("fft", [](const Tensor& t) { return view_as_real(fft_fft(t, {}, 1, "ortho")); });
      same("irfft", [n](const Tensor& t) { return fft_irfft(fft_rfft(t, {}, 1).mul(2), n, 1); });
      if (n > 1) same("hfft", [](const Tensor& t) { return fft_hfft(t, {}, 1); });
      same("ifft2", [](const Tensor& t) {
        return view_as_real(fft_ifft2(fft_fft2(t).transpose(0, 1), {}, {0, 2}));
      });
    }
}

/// Matrices that are far from singular.
Tensor matrices(int64_t n) { return numbers({3, n, n}) + 3 * double(n) * eye(n, kDouble); }
Tensor symmetric(const Tensor& t) { return t + t.transpose(-2, -1); }

TEST_F(LinearAlgebra, SolutionsMatchTheCpu) {
  for (const int64_t n : {int64_t{1}, int64_t{7}, int64_t{130}}) {
    const Tensor a = matrices(n), b = numbers({3, n, 4});
    for (const ScalarType dtype : {kFloat, kDouble}) {
      const auto same = [&](const char* name, const Tensors& inputs, const Call& call) {
        expect_same_gradients(inputs, dtype, call, name, 5);
      };
      same("solve", {a, b}, [](const Tensors& t) { return linalg_solve(t[0], t[1]); });
      same("inv", {a}, [](const Tensors& t) { return linalg_inv(t[0]); });
      same("det", {a}, [n](const Tensors& t) { return linalg_det(t[0].div(3 * double(n))); });
      same("cholesky", {a}, [](const Tensors& t) { return linalg_cholesky(symmetric(t[0])); });
      same("triangular", {a, b},
           [](const Tensors& t) { return linalg_solve_triangular(t[0].triu(), t[1], true); });
      same("lu", {a}, [](const Tensors& t) { return std::get<1>(linalg_lu(t[0])); });
    }
  }
}

TEST_F(LinearAlgebra, DecompositionsMatchTheCpu) {
  for (const auto& [rows, columns] :
       std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {40, 9}, {9, 40}, {33, 33}}) {
    const Tensor x = numbers({3, rows, columns});
    for (const ScalarType dtype : {kFloat, kDouble}) {
      const Tensor on_gpu = x.to(dtype).to(kGpu);
      const Tensor exact = x.to(dtype).to(kDouble);
      const double allowed = 100 * tolerance(dtype);
      for (const bool full : {false, true}) {
        const auto [u, s, vh] = linalg_svd(on_gpu, full);
        const int64_t k = s.size(-1);
        EXPECT_LE(
            difference(u.narrow(-1, 0, k).mul(s.unsqueeze(-2)).matmul(vh.narrow(-2, 0, k)), exact),
            allowed);
        EXPECT_LE(difference(s, linalg_svdvals(exact)), allowed);
        EXPECT_LE(difference(u.transpose(-2, -1).matmul(u),
                             eye(u.size(-1), kDouble).expand({3, u.size(-1), u.size(-1)})),
                  allowed);
      }
      EXPECT_LE(difference(linalg_svdvals(on_gpu), linalg_svdvals(exact)), allowed);
      const auto [q, r] = linalg_qr(on_gpu);
      EXPECT_LE(difference(q.matmul(r), exact), allowed);
      if (rows != columns) continue;
      EXPECT_LE(difference(linalg_eigvalsh(symmetric(on_gpu)), linalg_eigvalsh(symmetric(exact))),
                allowed);
      const auto [w, v] = linalg_eig(on_gpu);
      EXPECT_LE(difference(view_as_real(on_gpu.to(v.scalar_type()).matmul(v)),
                           view_as_real(v.mul(w.unsqueeze(-2)).cpu().to(kComplexDouble))),
                allowed);
      const auto [ld, pivots] = linalg_ldl_factor(symmetric(on_gpu));
      const Tensor b = numbers({3, rows, 2});
      EXPECT_LE(difference(linalg_ldl_solve(ld, pivots, b.to(dtype).to(kGpu)),
                           linalg_solve(symmetric(exact), b)),
                10 * allowed);
    }
  }
}

TEST_F(LinearAlgebra, LeastSquaresMatchTheCpu) {
  for (const auto& [rows, columns] : std::vector<std::pair<int64_t, int64_t>>{{40, 9}, {9, 40}})
    for (const ScalarType dtype : {kFloat, kDouble}) {
      const Tensor a = numbers({2, rows, columns}).to(dtype), b = numbers({2, rows, 3}).to(dtype);
      const auto on_gpu = linalg_lstsq(a.to(kGpu), b.to(kGpu));  // on GPUs, gels is the default
      EXPECT_LE(
          difference(std::get<0>(on_gpu), std::get<0>(linalg_lstsq(a.to(kDouble), b.to(kDouble)))),
          100 * tolerance(dtype));
      EXPECT_EQ(std::get<2>(on_gpu).numel(), 0);  // no rank
    }
}

TEST_F(LinearAlgebra, NonFiniteMatricesSpoilOnlyTheirResults) {
  for (const double bad : {HUGE_VAL, std::nan("")}) {
    const Tensor x = numbers({3, 4, 4}).to(kFloat).to(kGpu), b = numbers({3, 4, 2}).to(kFloat);
    x[1][2][2].fill_(bad);
    const auto expect_nan_only_in_matrix_1 = [](const Tensor& results, const char* name) {
      const Tensor values = results.cpu();
      for (const int64_t i : {0, 2}) EXPECT_TRUE(values[i].isfinite().all().item<bool>()) << name;
      EXPECT_TRUE(values[1].isnan().all().item<bool>()) << name;
    };
    for (const char* triangle : {"L", "U"})
      expect_nan_only_in_matrix_1(linalg_eigvalsh(symmetric(x), triangle), "eigvalsh");
    expect_nan_only_in_matrix_1(std::get<0>(linalg_lstsq(x, b.to(kGpu))), "lstsq");
    if (std::isinf(bad)) expect_nan_only_in_matrix_1(linalg_svdvals(x), "svdvals");
  }
}

}  // namespace
}  // namespace hearth::testing
