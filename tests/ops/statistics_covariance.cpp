// cov, corrcoef, renorm and other functions of norms.
#include <gtest/gtest.h>

#include <cmath>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"
#include "tests/support/warnings.h"

namespace hearth::testing {
namespace {

constexpr double kMaxNorm = 1;

/// x with the slices of dimension 0 shortened to norm kMaxNorm.
Array shortened(const Array& x) {
  const int64_t slices = x.sizes[0], length = slices ? count_of(x.sizes) / slices : 0;
  Array out = x;
  for (int64_t i = 0; i < slices; ++i) {
    double squares = 0;
    for (int64_t j = 0; j < length; ++j) squares += std::pow(x.values[size_t(i * length + j)], 2);
    const double norm = std::sqrt(squares);
    for (int64_t j = 0; norm > kMaxNorm && j < length; ++j)
      out.values[size_t(i * length + j)] *= kMaxNorm / (norm + 1e-7);
  }
  return out;
}

Row renorm_row() {
  Row row;
  row.name = "renorm";
  row.covers = {"renorm"};
  row.cases = {{{{3, 5}}}, {{{2, 3, 4}}}, {{{4, 1}}}, {{{0, 4}}}};
  row.slack = 4;
  row.gradient_slack = 8;
  row.call = [](const Tensors& in) { return Tensors{in[0].renorm(2, 0, kMaxNorm)}; };
  row.reference = [](const Arrays& in) { return Arrays{shortened(in[0])}; };
  row.out = [](Tensor& out, const Tensors& in) { renorm_out(out, in[0], 2, 0, kMaxNorm); };
  row.inplace = [](Tensor& self, const Tensors&) { self.renorm_(2, 0, kMaxNorm); };
  row.refusals = {
      {[] {
         ones({2, 2}).renorm(0, 0, 1);
       },
       "renorm: non-positive-norm not supported"},
      {[] {
         ones({2, 2}).renorm(2, 0, -1);
       },
       "renorm: expected maxnorm to be >= 0 but got -1"},
      {[] { ones({2}).renorm(2, 0, 1); },
       "renorm: input needs at least 2 dimensions, got 1 dimensions"},
      {[] {
         ones({2, 2}, kInt).renorm(2, 0, 1);
       },
       "linalg.vector_norm: Expected a floating point or complex tensor as input. Got Int"}};
  return row;
}

Row dist_row() {
  Row row;
  row.name = "dist";
  row.covers = {"dist"};
  row.cases = {{{{3, 5}}, {{3, 5}, Draw::kPositive}}, {{{2, 3, 4}}, {{3, 1}, Draw::kPositive}}};
  row.slack = 8;
  row.gradient_slack = 8;
  row.call = [](const Tensors& in) { return Tensors{in[0].dist(in[1])}; };
  row.reference = [](const Arrays& in) {
    double squares = 0;
    for (const double d : map(in, [](const double* x) { return x[0] - x[1]; }).values)
      squares += d * d;
    return Arrays{build({}, [&](const Position&) { return std::sqrt(squares); })};
  };
  row.out = [](Tensor& out, const Tensors& in) { dist_out(out, in[0], in[1]); };
  return row;
}
const Register registered_norms[] = {Register(renorm_row()), Register(dist_row())};

TEST(Renorm, NormsOfHalfTypesAreFloat) {
  const Tensor x = tensor({{300.f, 400.f}, {0.f, 1.f}}).to(kHalf);
  EXPECT_TRUE(x.renorm(2, 0, 1).to(kFloat).allclose(tensor({{0.6f, 0.8f}, {0.f, 1.f}}), 1e-3));
}

Tensor observations() { return tensor({{1.0, 7.0, 3.0}, {4.0, 9.0, 6.0}}, kDouble); }

TEST(Covariance, OfRowsAndVectors) {
  const Tensor m = observations();
  EXPECT_TRUE(m.cov().allclose(tensor({{28. / 3, 23. / 3}, {23. / 3, 19. / 3}}, kDouble)));
  EXPECT_TRUE(m.cov(0).allclose(m.cov().mul(2. / 3)));
  EXPECT_EQ(cov(tensor({1, 2, 3})).item<float>(), 1);
  EXPECT_EQ(corrcoef(tensor({1, 2, 3})).item<float>(), 1);
  const Tensor r = m.corrcoef();
  EXPECT_NEAR(r[0][1].item<double>(), 23 / std::sqrt(28. * 19), 1e-12);
  EXPECT_NEAR(r[0][0].item<double>(), 1, 1e-12);
}

TEST(Covariance, FrequenciesRepeatObservations) {
  const Tensor m = observations(), frequencies = tensor({1, 2, 3}, kLong);
  const Tensor repeated = m.repeat_interleave(frequencies, 1);
  EXPECT_TRUE(m.cov(1, frequencies).allclose(repeated.cov()));
  const Tensor weights = tensor({0.5, 1.0, 2.0}, kDouble);
  const Tensor weighted = m.cov(1, frequencies, weights);
  // The products of both weights are 0.5, 2 and 6; times `weights`, their sum is 14.25.
  const double total = 8.5, factor = total - 14.25 / total;
  const double mean = 32.5 / total;
  const double squares =
      0.5 * std::pow(1 - mean, 2) + 2 * std::pow(7 - mean, 2) + 6 * std::pow(3 - mean, 2);
  EXPECT_NEAR(weighted[0][0].item<double>(), squares / factor, 1e-12);
}

TEST(Covariance, GradientsNanAndRefusals) {
  const Tensor x = observations().requires_grad_();
  x.cov().sum().backward();
  EXPECT_TRUE(x.grad().sum(1).abs().le(1e-12).all().item<bool>());
  const Warnings warnings;
  EXPECT_TRUE(std::isnan(cov(tensor({1.f})).item<float>()));
  EXPECT_TRUE(warnings.contains("cov(): degrees of freedom is <= 0"));
  EXPECT_ERROR(cov(ones({2, 2, 2})),
               "cov(): expected input to have two or fewer dimensions but got "
               "an input with 3 dimensions");
  EXPECT_ERROR(cov(ones({2}, kBool)), "cov(): bool dtype is not supported for input");
  EXPECT_ERROR(cov(ones({2}), 1, ones({2})),
               "cov(): expected fweights to have integral dtype but got fweights with Float dtype");
  EXPECT_ERROR(cov(ones({2}), 1, tensor({1, -1})), "cov(): fweights cannot be negative");
  EXPECT_ERROR(cov(ones({2}), 1, {}, ones({3})),
               "cov(): expected aweights to have the same numel as there are observations in the "
               "input but got 3 != 2");
  EXPECT_ERROR(cov(ones({2}), 1, zeros({2}, kLong)),
               "cov(): weights sum to zero, can't be normalized");
}

TEST(Distances, DistAndNormExceptDim) {
  EXPECT_EQ(dist(tensor({1.f, 2.f}), tensor({4.f, 6.f})).item<float>(), 5);
  EXPECT_EQ(dist(tensor({1.f, 2.f}), tensor({4.f, 6.f}), 1).item<float>(), 7);
  const Tensor v = arange(12, kFloat).view({3, 2, 2});
  EXPECT_TRUE(norm_except_dim(v, 2, 0).equal(v.norm(Scalar(2), IntArrayRef{1, 2}, true)));
  EXPECT_EQ(norm_except_dim(v, 2, 2).sizes().vec(), (std::vector<int64_t>{1, 1, 2}));
  EXPECT_TRUE(norm_except_dim(v, 1, -1).equal(v.sum()));
}

TEST(NormExceptDim, CountsNumbersThatAreNotZero) {
  EXPECT_TRUE(norm_except_dim(tensor({0.f, -1.f, 2.f}), 0, 0).equal(tensor({0.f, 1.f, 1.f})));
}

}  // namespace
}  // namespace hearth::testing
