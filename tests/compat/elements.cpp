// Functions of elements, statistics, samples, slices, eigenvalues and factors with LibTorch's API.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <tuple>
#include <vector>

#include "tests/compat/texts.h"

namespace {

using hearth::testing::text_of_error;

/// Whether f throws an error that begins with the text.
template <class F>
bool refuses(const F& f, const std::string& text) {
  return text_of_error(f).rfind(text, 0) == 0;
}

TEST(Elements, Pointwise) {
  const auto x = torch::tensor({1.f, -2.f, 0.f}), y = torch::tensor({-0.f, 3.f, -1.f});
  EXPECT_TRUE(torch::copysign(x, y).equal(torch::tensor({-1.f, 2.f, -0.f})));
  EXPECT_TRUE(x.copysign(-1).equal(torch::tensor({-1.f, -2.f, -0.f})));
  EXPECT_TRUE(x.clone().copysign_(y).equal(x.copysign(y)));
  EXPECT_TRUE(torch::logaddexp(x, y).allclose((x.exp() + y.exp()).log()));
  EXPECT_TRUE(x.logaddexp2(y).allclose((x.exp2() + y.exp2()).log2()));
  EXPECT_EQ(torch::nextafter(x, y)[0].item<float>(), std::nextafter(1.f, 0.f));
  EXPECT_TRUE(x.ldexp(torch::tensor({1, 2, 3})).equal(torch::tensor({2.f, -8.f, 0.f})));
  const auto [mantissa, exponent] = torch::frexp(x);
  EXPECT_TRUE(mantissa.equal(torch::tensor({0.5f, -0.5f, 0.f})));
  EXPECT_TRUE(exponent.equal(torch::tensor({1, 2, 0}, torch::kInt)));
  const auto a = torch::tensor({12, -18, 0}), b = torch::tensor({18, 12, 7});
  EXPECT_TRUE(torch::gcd(a, b).equal(torch::tensor({6, 6, 7})));
  EXPECT_TRUE(a.lcm(b).equal(torch::tensor({36, 36, 0})));
  EXPECT_TRUE(a.__lshift__(1).equal(a * 2) && a.__xor__(b).equal(a ^ b));
  EXPECT_TRUE(refuses([&] { torch::gcd(x, y); }, "\"gcd_cpu\" not implemented for 'Float'"));
}

TEST(Elements, DifferencesAndIntegrals) {
  const auto x = torch::tensor({1.f, 2.f, 4.f});
  EXPECT_TRUE(torch::diff(x).equal(torch::tensor({1.f, 2.f})));
  EXPECT_TRUE(x.diff(1, 0, torch::zeros({1})).equal(torch::tensor({1.f, 1.f, 2.f})));
  EXPECT_EQ(torch::trapezoid(x, x).item<float>(), 7.5f);
  EXPECT_EQ(torch::trapz(x, 2.0).item<float>(), torch::trapezoid(x, 2).item<float>());
  EXPECT_TRUE(torch::cumulative_trapezoid(x).equal(torch::tensor({1.5f, 4.5f})));
  EXPECT_TRUE(torch::vander(torch::tensor({2, 3}), 3, true)
                  .equal(torch::tensor({{1, 2, 4}, {1, 3, 9}}, torch::kLong)));
}

TEST(Elements, Statistics) {
  const auto m = torch::tensor({{1.0, 7.0, 3.0}, {4.0, 9.0, 6.0}}, torch::kDouble);
  EXPECT_TRUE(m.cov().diagonal().allclose(m.var(1)));
  EXPECT_NEAR(torch::corrcoef(m)[0][1].item<double>(), 0.9972, 1e-4);
  EXPECT_NEAR(m.quantile(0.3).item<double>(), 3.5, 1e-12);
  const auto q = torch::tensor({0.1, 0.8}, torch::kDouble);
  EXPECT_EQ(torch::quantile(m, q, 1, true, "lower").sizes().vec(), (std::vector<int64_t>{2, 2, 1}));
  EXPECT_TRUE(torch::nanquantile(torch::tensor({1.f, NAN, 2.f}), 0.5).equal(torch::tensor(1.5f)));
  EXPECT_TRUE(torch::histc(m, 2, 0, 10).equal(torch::tensor({3.0, 3.0}, torch::kDouble)));
  const auto [hist, edges] = torch::histogram(m.select(0, 0), 2);
  EXPECT_TRUE(hist.equal(torch::tensor({2.0, 1.0}, torch::kDouble)));
  EXPECT_TRUE(edges.equal(torch::tensor({1.0, 4.0, 7.0}, torch::kDouble)));
  const auto grid = torch::histogramdd(m.t().contiguous(), std::vector<int64_t>{2, 2});
  EXPECT_EQ(std::get<0>(grid).sum().item<double>(), 3);
  EXPECT_EQ(std::get<1>(grid).size(), 2u);
  EXPECT_TRUE(torch::isin(m, 7).equal(m.eq(7)));
  EXPECT_NEAR(torch::renorm(m, 2, 0, 1).norm(2, {1}, false)[0].item<double>(), 1, 1e-6);
  EXPECT_EQ(torch::dist(m, m.add(1), 1).item<double>(), 6);
  EXPECT_TRUE(
      refuses([&] { m.quantile(2); }, "quantile() q must be in the range [0, 1] but got 2"));
}

TEST(Elements, ReductionsIntoOtherTensors) {
  const auto index = torch::tensor({0, 1, 0}, torch::kLong);
  const auto x = torch::tensor({5.f, 6.f, 7.f}), src = torch::tensor({1.f, 2.f, 3.f});
  EXPECT_TRUE(x.scatter_reduce(0, index, src, "amin").equal(torch::tensor({1.f, 2.f, 7.f})));
  EXPECT_TRUE(
      torch::scatter_reduce(x, 0, index, src, "mean", false).equal(torch::tensor({2.f, 2.f, 7.f})));
  EXPECT_TRUE(
      x.clone().index_reduce_(0, index, src, "prod").equal(torch::tensor({15.f, 12.f, 7.f})));
  EXPECT_TRUE(torch::segment_reduce(x, "max", torch::tensor({1, 2}, torch::kLong))
                  .equal(torch::tensor({5.f, 7.f})));
  EXPECT_TRUE(refuses([&] { x.scatter_reduce(0, index, src, "foo"); },
                      "reduce argument must be either sum, prod, mean, amax or amin, got foo"));
}

TEST(Elements, Samples) {
  torch::manual_seed(5);
  const auto counts = torch::poisson(torch::tensor({0.f, 0.5f, 3.f, 9.f, 10.f, 40.f, 1000.f}));
  EXPECT_TRUE(counts.equal(torch::tensor({0.f, 1.f, 2.f, 10.f, 8.f, 45.f, 1014.f})));
  torch::manual_seed(5);
  EXPECT_TRUE(torch::empty({4}).geometric_(0.3).equal(torch::tensor({2.f, 4.f, 3.f, 4.f})));
  torch::manual_seed(5);
  EXPECT_NEAR(torch::empty({20}).cauchy_()[19].item<float>(), 0.0246, 1e-4);
  torch::manual_seed(5);
  EXPECT_NEAR(torch::empty({20}).log_normal_()[5].item<float>(), 132.3655, 1e-3);
}

TEST(Elements, SlicesAndCopies) {
  EXPECT_EQ(torch::ones({5}).unsafe_chunk(2).size(), 2u);
  EXPECT_EQ(torch::unsafe_split(torch::ones({5}), 2)[2].size(0), 1);
  EXPECT_TRUE(torch::fill(torch::ones({2}), 3).equal(torch::full({2}, 3.f)));
  EXPECT_TRUE(torch::as_strided_scatter(torch::zeros({4}), torch::ones({2}), {2}, {2})
                  .equal(torch::tensor({1.f, 0.f, 1.f, 0.f})));
  EXPECT_EQ(torch::empty_permuted({2, 3, 4}, {2, 0, 1}).strides().vec(),
            (std::vector<int64_t>{3, 1, 6}));
  const auto x = torch::tensor({1, 0, 2});
  EXPECT_TRUE(x.nonzero_static(3).equal(torch::tensor({{0}, {2}, {-1}}, torch::kLong)));
  EXPECT_EQ(torch::nonzero_numpy(torch::eye(2)).size(), 2u);
}

TEST(Elements, EigenvaluesAndFactors) {
  const auto rotation = torch::tensor({{0.0, 1.0}, {-1.0, 0.0}}, torch::kDouble);
  const auto [w, v] = torch::linalg_eig(rotation);
  EXPECT_TRUE(rotation.to(torch::kComplexDouble).matmul(v).allclose(v * w.unsqueeze(-2)));
  EXPECT_TRUE(torch::linalg_eigvals(rotation).equal(w));
  const auto a = torch::tensor({{4.0, 2.0}, {2.0, -1.0}}, torch::kDouble);
  const auto [ld, pivots] = torch::linalg_ldl_factor(a);
  const auto x = torch::linalg_ldl_solve(ld, pivots, torch::ones({2, 1}, torch::kDouble));
  EXPECT_TRUE(a.matmul(x).allclose(torch::ones({2, 1}, torch::kDouble)));
  const auto [reflections, tau] = torch::geqrf(a);
  EXPECT_TRUE(torch::ormqr(reflections, tau, a, true, true)
                  .allclose(std::get<1>(torch::linalg_qr(a)), 1e-5, 1e-10));
}

}  // namespace
