// torch::special by LibTorch's names. The expected numbers are the functions'
// mathematical values, not LibTorch's results.
#include <gtest/gtest.h>
#include <torch/special.h>
#include <torch/torch.h>

#include <cmath>
#include <vector>

namespace {

using torch::Tensor;
namespace special = torch::special;

Tensor doubles(const std::vector<double>& values) { return torch::tensor(values, torch::kDouble); }

void expect_special_values(const Tensor& got, const std::vector<double>& wanted,
                           double tolerance = 1e-6) {
  ASSERT_EQ(got.numel(), int64_t(wanted.size()));
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(got.to(torch::kDouble).data_ptr<double>()[i], wanted[i], tolerance) << i;
}

TEST(Special, FunctionsOfOneTensor) {
  const struct {
    Tensor (*call)(const Tensor&);
    Tensor& (*out)(Tensor&, const Tensor&);
    double at_half;
  } functions[] = {
      {special::airy_ai, special::airy_ai_out, 0.23169360648083348},
      {special::bessel_j0, special::bessel_j0_out, 0.93846980724081291},
      {special::bessel_j1, special::bessel_j1_out, 0.24226845767487388},
      {special::bessel_y0, special::bessel_y0_out, -0.44451873350670656},
      {special::bessel_y1, special::bessel_y1_out, -1.4714723926702430},
      {special::digamma, special::digamma_out, -1.9635100260214235},
      {special::psi, special::psi_out, -1.9635100260214235},
      {special::entr, special::entr_out, 0.34657359027997264},
      {special::erf, special::erf_out, 0.52049987781304654},
      {special::erfc, special::erfc_out, 0.47950012218695346},
      {special::erfcx, special::erfcx_out, 0.61569034419292590},
      {special::erfinv, special::erfinv_out, 0.47693627620446987},
      {special::exp2, special::exp2_out, 1.4142135623730951},
      {special::expit, special::expit_out, 0.62245933120185459},
      {special::expm1, special::expm1_out, 0.64872127070012819},
      {special::gammaln, special::gammaln_out, 0.57236494292470008},
      {special::i0, special::i0_out, 1.0634833707413236},
      {special::i0e, special::i0e_out, 0.64503527044915006},
      {special::i1, special::i1_out, 0.25789430539089631},
      {special::i1e, special::i1e_out, 0.15642080318487169},
      {special::log1p, special::log1p_out, 0.40546510810816438},
      {special::log_ndtr, special::log_ndtr_out, -0.36894641528865633},
      {special::logit, special::logit_out, 0},
      {special::modified_bessel_i0, special::modified_bessel_i0_out, 1.0634833707413236},
      {special::modified_bessel_i1, special::modified_bessel_i1_out, 0.25789430539089631},
      {special::modified_bessel_k0, special::modified_bessel_k0_out, 0.92441907122766587},
      {special::modified_bessel_k1, special::modified_bessel_k1_out, 1.6564411200033009},
      {special::ndtr, special::ndtr_out, 0.69146246127401310},
      {special::ndtri, special::ndtri_out, 0},
      {special::round, special::round_out, 0},
      {special::scaled_modified_bessel_k0, special::scaled_modified_bessel_k0_out,
       1.5241093857739095},
      {special::scaled_modified_bessel_k1, special::scaled_modified_bessel_k1_out,
       2.7310097082117855},
      {special::sinc, special::sinc_out, 0.63661977236758134},
      {special::spherical_bessel_j0, special::spherical_bessel_j0_out, 0.95885107720840601}};
  for (const auto& function : functions) {
    const Tensor x = doubles({0.5});
    expect_special_values(function.call(x), {function.at_half});
    Tensor out = torch::empty({0}, torch::kDouble);
    expect_special_values(function.out(out, x), {function.at_half});
  }
}

/// Expects a result of a function of two tensors, or of a tensor and a number, in all its forms.
#define EXPECT_FORMS(name, a, b, wanted)                                                   \
  do {                                                                                     \
    expect_special_values(special::name(doubles({a}), doubles({b})), {wanted});            \
    expect_special_values(special::name(a, doubles({b})), {wanted});                       \
    expect_special_values(special::name(doubles({a}), b), {wanted});                       \
    Tensor out = torch::empty({1}, torch::kDouble);                                        \
    expect_special_values(special::name##_out(out, doubles({a}), doubles({b})), {wanted}); \
    expect_special_values(special::name##_out(out, a, doubles({b})), {wanted});            \
    expect_special_values(special::name##_out(out, doubles({a}), b), {wanted});            \
  } while (false)

TEST(Special, FunctionsOfTensorsAndNumbers) {
  EXPECT_FORMS(xlogy, 2.0, 0.5, -1.3862943611198906);
  EXPECT_FORMS(xlog1py, 2.0, 0.5, 0.81093021621632876);
  EXPECT_FORMS(zeta, 2.0, 1.0, 1.6449340668482264);
  EXPECT_FORMS(chebyshev_polynomial_t, 0.5, 3.0, -1);
  EXPECT_FORMS(chebyshev_polynomial_u, 0.5, 3.0, -1);
  EXPECT_FORMS(chebyshev_polynomial_v, 0.5, 3.0, -1);
  EXPECT_FORMS(chebyshev_polynomial_w, 0.5, 3.0, -1);
  EXPECT_FORMS(hermite_polynomial_h, 0.5, 3.0, -5);
  EXPECT_FORMS(hermite_polynomial_he, 0.5, 3.0, -1.375);
  EXPECT_FORMS(laguerre_polynomial_l, 0.5, 3.0, -0.14583333333333334);
  EXPECT_FORMS(legendre_polynomial_p, 0.5, 3.0, -0.4375);
  EXPECT_FORMS(shifted_chebyshev_polynomial_t, 0.75, 3.0, -1);
  EXPECT_FORMS(shifted_chebyshev_polynomial_u, 0.75, 3.0, -1);
  EXPECT_FORMS(shifted_chebyshev_polynomial_v, 0.75, 3.0, -1);
  EXPECT_FORMS(shifted_chebyshev_polynomial_w, 0.75, 3.0, -1);
}

TEST(Special, FunctionsWithOtherArguments) {
  const Tensor a = doubles({2.0}), x = doubles({0.5});
  Tensor out = torch::empty({1}, torch::kDouble);
  expect_special_values(special::gammainc(a, x), {0.090204010431049863});
  expect_special_values(special::gammainc_out(out, a, x), {0.090204010431049863});
  expect_special_values(special::gammaincc(a, x), {0.90979598956895014});
  expect_special_values(special::gammaincc_out(out, a, x), {0.90979598956895014});
  expect_special_values(special::polygamma(2, a), {-0.40411380631918857});
  expect_special_values(special::polygamma_out(out, 2, a), {-0.40411380631918857});
  expect_special_values(special::multigammaln(a, 2), {0.45158270528945486});
  expect_special_values(special::multigammaln_out(out, a, 2), {0.45158270528945486});
  const Tensor pair = doubles({0, 0});
  expect_special_values(special::logsumexp(pair, {0}, false), {std::log(2.0)});
  expect_special_values(special::softmax(pair, 0, torch::kFloat), {0.5, 0.5});
  expect_special_values(special::log_softmax(pair, 0, torch::kFloat),
                        {std::log(0.5), std::log(0.5)});
}

TEST(Special, MethodsAndFunctionsOutsideTorchSpecial) {
  const Tensor half = doubles({0.5});
  expect_special_values(half.lgamma(), {0.57236494292470008});
  expect_special_values(half.clone().lgamma_(), {0.57236494292470008});
  expect_special_values(half.clone().digamma_(), {-1.9635100260214235});
  expect_special_values(half.polygamma(1), {4.9348022005446793});
  expect_special_values(torch::polygamma(1, half), {4.9348022005446793});
  expect_special_values(half.clone().polygamma_(1), {4.9348022005446793});
  expect_special_values(torch::mvlgamma(half + 1, 2), {0.45158270528945486});
  expect_special_values((half + 1).mvlgamma_(2), {torch::mvlgamma(half + 1, 2).item<double>()});
  expect_special_values(doubles({2}).igamma(half), {0.090204010431049863});
  expect_special_values(doubles({2}).igammac_(half), {0.90979598956895014});
  Tensor copy = half.clone();
  expect_special_values(torch::i0_(copy), {1.0634833707413236});
  expect_special_values(half.clone().sinc_(), {0.63661977236758134});
  expect_special_values(torch::logit(doubles({0.125}), 0.25), {-std::log(3.0)});
  expect_special_values(doubles({0.75}).logit_(), {std::log(3.0)});
}

TEST(Special, DtypesOfIntegerArguments) {
  const Tensor n = torch::tensor({1, 2});
  EXPECT_EQ(special::i0(n).scalar_type(), torch::kFloat);
  EXPECT_EQ(special::zeta(n + 1, n).scalar_type(), torch::kFloat);
  EXPECT_EQ(special::zeta(2, n).scalar_type(), torch::kFloat);
  EXPECT_EQ(special::legendre_polynomial_p(doubles({0.5}).to(torch::kFloat), 2).scalar_type(),
            torch::kFloat);
  EXPECT_THROW(special::gammainc(n, n), c10::Error);
}

TEST(Special, Gradients) {
  const Tensor x = doubles({0.5}).requires_grad_();
  const auto slope = [&](const Tensor& y) { return torch::autograd::grad({y}, {x})[0]; };
  expect_special_values(slope(special::gammaln(x)), {-1.9635100260214235});
  expect_special_values(slope(special::i0(x)), {0.25789430539089631});
  expect_special_values(slope(special::zeta(2, x)), {-16.828796644234320});
  expect_special_values(slope(special::xlog1py(x, 1)), {std::log(2.0)});
  expect_special_values(slope(special::ndtri(x)), {2.5066282746310002});
  EXPECT_FALSE(special::airy_ai(x).requires_grad());
  EXPECT_FALSE(special::hermite_polynomial_h(x, 2).requires_grad());
  EXPECT_THROW(slope(special::zeta(x, 2)), c10::Error);
}

}  // namespace
