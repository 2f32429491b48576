// cauchy_, log_normal_, geometric_, poisson and binomial: PyTorch's numbers, means, gradients and
// errors.
#include <gtest/gtest.h>

#include <cmath>

#include "hearth/autograd.h"
#include "hearth/autograd/forward_ad.h"
#include "hearth/cuda.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

TEST(Distributions, ContinuousNumbersArePyTorchs) {
  manual_seed(5);
  const Tensor cauchy = empty({20}).cauchy_();
  EXPECT_TRUE(cauchy.slice(0, 0, 5).allclose(
      tensor({0.4783f, -0.9405f, -0.4674f, -0.6563f, -0.9035f}), 0, 1e-4));
  EXPECT_NEAR(cauchy[19].item<float>(), 0.0246, 1e-4);
  manual_seed(5);
  const Tensor log_normal = empty({20}).log_normal_();
  EXPECT_TRUE(log_normal.slice(0, 0, 6).allclose(
      tensor({1.0268f, 0.8125f, 0.8903f, 10.3300f, 1.8316f, 132.3655f}), 0, 1e-4));
  EXPECT_NEAR(log_normal[19].item<float>(), 0.2519, 1e-4);
}

TEST(Distributions, CountsArePyTorchs) {
  manual_seed(5);
  EXPECT_TRUE(empty({8}).geometric_(0.3).equal(tensor({2.f, 4.f, 3.f, 4.f, 4.f, 1.f, 2.f, 1.f})));
  manual_seed(5);
  EXPECT_TRUE(empty({5}, kLong).geometric_(0.3).equal(tensor({2, 4, 3, 4, 4}, kLong)));
  manual_seed(5);
  EXPECT_TRUE(poisson(tensor({0.f, 0.5f, 3.f, 9.f, 10.f, 40.f, 1000.f}))
                  .equal(tensor({0.f, 1.f, 2.f, 10.f, 8.f, 45.f, 1014.f})));
  manual_seed(5);
  const Tensor count = tensor({0.f, 5.f, 20.f, 100.f, 100.f, 1000.f, 7.f});
  const Tensor p = tensor({.5f, .3f, .7f, .2f, .9f, .5f, 1.f});
  EXPECT_TRUE(binomial(count, p).equal(tensor({0.f, 1.f, 12.f, 18.f, 93.f, 492.f, 7.f})));
}

TEST(Distributions, MeansOnEveryDevice) {
  for (const Device device : devices()) {
    manual_seed(1);
    const Tensor like = ones({20000}).to(device, kFloat);
    EXPECT_NEAR(poisson(like.mul(4)).mean().item<float>(), 4, 0.06);
    EXPECT_NEAR(binomial(like.mul(20), like.mul(0.3)).mean().item<float>(), 6, 0.06);
    EXPECT_NEAR(like.clone().geometric_(0.25).mean().item<float>(), 4, 0.12);
    EXPECT_NEAR(like.clone().log_normal_(0, 0.5).log().mean().item<float>(), 0, 0.02);
    EXPECT_NEAR(like.clone().cauchy_(2, 3).median().item<float>(), 2, 0.15);
  }
}

TEST(Distributions, GradientsAreZero) {
  const Tensor rate = ones({3}).requires_grad_();
  poisson(rate).sum().backward();
  EXPECT_TRUE(rate.grad().equal(zeros({3})));
  const Tensor p = full({3}, 0.5).requires_grad_();
  const Tensor flags = bernoulli(p);
  EXPECT_EQ(flags.grad_fn()->name(), "BernoulliBackward0");
  flags.sum().backward();
  EXPECT_TRUE(p.grad().equal(zeros({3})));
  const Tensor filled = ones({3}).requires_grad_().mul(1);
  filled.cauchy_();
  EXPECT_TRUE(filled.requires_grad());
}

TEST(Distributions, TangentsAreZeroOrRefused) {
  namespace forward_ad = autograd::forward_ad;
  const forward_ad::DualLevel level;
  const Tensor p = full({3}, 0.5), dual = forward_ad::make_dual(p, ones({3}));
  for (const Tensor& numbers : {bernoulli(dual), poisson(dual), normal(dual, 1.)})
    EXPECT_TRUE(numbers._fw_grad(0).equal(zeros({3})));
  EXPECT_FALSE(zeros({3}).bernoulli_(dual)._fw_grad(0).defined());
  const char* const text = "Trying to use forward AD with aten::binomial that does not support it.";
  EXPECT_ERROR(binomial(p, dual), text);
  EXPECT_ERROR(binomial(dual, p), text);
}

TEST(Distributions, Refusals) {
  EXPECT_ERROR(empty({3}).cauchy_(0, -1), "cauchy_ expects sigma > 0.0, but found sigma=-1");
  EXPECT_ERROR(empty({3}, kLong).cauchy_(),
               "Cauchy distribution is a continuous probability "
               "distribution. dtype must be a floating point but you "
               "specified long int");
  EXPECT_ERROR(empty({3}).log_normal_(0, 0), "log_normal_ expects std > 0.0, but found std=0");
  EXPECT_ERROR(empty({3}, kLong).log_normal_(), "not implemented for 'Long'");
  EXPECT_ERROR(empty({3}).geometric_(1), "geometric_ expects p to be in (0, 1), but got p=1");
  EXPECT_ERROR(empty({3}, kBool).geometric_(.5), "not implemented for 'Bool'");
  EXPECT_ERROR(poisson(tensor({-1.f})), "invalid Poisson rate, expected rate to be non-negative");
  EXPECT_ERROR(poisson(ones({2}, kLong)), "\"poisson_cpu\" not implemented for 'Long'");
  EXPECT_ERROR(binomial(ones({1}, kLong), ones({1})),
               "binomial only supports floating-point dtypes for count, got: Long");
  EXPECT_ERROR(binomial(ones({1}), ones({1}, kDouble)), "Found dtype Double but expected Float");
}

TEST(Distributions, CountsOnADeviceUseItsGenerator) {
  for (const Device device : devices()) {
    if (device.is_cpu()) continue;
    const Tensor rates = full({50}, 20., TensorOptions(device)),
                 p = full({50}, .5, rates.options());
    manual_seed(3);
    const Tensor next = rand({2});
    manual_seed(3);
    cuda::manual_seed_all(1);
    const Tensor first = poisson(rates), counts = binomial(rates, p);
    EXPECT_TRUE(rand({2}).equal(next));
    EXPECT_FALSE(poisson(rates).equal(first));
    cuda::manual_seed_all(1);
    EXPECT_TRUE(poisson(rates).equal(first));
    EXPECT_TRUE(binomial(rates, p).equal(counts));
  }
}

TEST(Distributions, BinomialOfNanIsNan) {
  EXPECT_TRUE(binomial(tensor({NAN}), tensor({0.5f})).isnan().item<bool>());
}

TEST(Distributions, NumbersInFloat64ArePyTorchsToTheLastBit) {
  manual_seed(5);
  EXPECT_TRUE(empty({3}, kDouble)
                  .cauchy_(1, 2)
                  .equal(tensor({0x1.f4e64caf0bfc2p+0, -0x1.c3110cbbd3974p-1, 0x1.0b1f217a53670p-4},
                                kDouble)));
  manual_seed(0);
  EXPECT_TRUE(empty({7}, kDouble)
                  .cauchy_(1, 2)
                  .slice(0, 4)
                  .equal(tensor({0x1.fadfd38ffbe6ep+0, 0x1.cc809343638c2p+1, -0x1.1752ad6450665p+1},
                                kDouble)));
  manual_seed(0);
  EXPECT_EQ(empty({20}, kDouble).log_normal_(1, 2)[11].item<double>(), 0x1.f4bf853f5f829p+1);
  manual_seed(5);
  EXPECT_TRUE(empty({6}, kDouble)
                  .log_normal_(0.3, 0.7)
                  .equal(tensor({0x1.eb8e9dd6ce104p-1, 0x1.c4e3de419c784p-1, 0x1.d39edf0807d7cp-1,
                                 0x1.13b2115513f66p+1, 0x1.2cf67e34a6941p+0, 0x1.50941be68ae35p+2},
                                kDouble)));
  manual_seed(0);
  EXPECT_EQ(rrelu(full({2}, -1.0, kFloat), 0.125, 1. / 3, true)[1].item<double>(), -0x1.170068p-2);
  manual_seed(0);
  EXPECT_EQ(rrelu(full({4}, -1.0, kDouble), 0.125, 1. / 3, true)[3].item<double>(),
            -0x1.446d19a5f9eeap-2);
}

TEST(Distributions, GammaAndDirichletNumbersArePyTorchs) {
  const std::vector<double> a{0.5, 1, 2, 0, 0.01, 10, 300};
  manual_seed(5);
  const Tensor gamma = _standard_gamma(tensor(a, kDouble));
  EXPECT_TRUE(gamma.equal(
      tensor({0x1.220f142b8e193p-3, 0x1.c5f02ee300cf5p+0, 0x1.72a518b7c2271p+1, 0x1p-1022,
              0x1.b83a2d84017cfp-275, 0x1.0117055a52d80p+3, 0x1.37c889ed0f4afp+8},
             kDouble)));
  manual_seed(5);
  const Tensor rows = _sample_dirichlet(tensor({{0.5, 1., 2.}, {0.01, 10., 300.}}, kDouble));
  EXPECT_TRUE(
      rows.allclose(tensor({{0x1.e260985b40e20p-6, 0x1.7974fb48ef212p-2, 0x1.34327d98ae687p-1},
                            {0x1.606203a06c384p-283, 0x1.9b9426ea8f66ap-6, 0x1.f3235ec8ab84dp-1}},
                           kDouble),
                    1e-15, 0));
  EXPECT_ERROR(_standard_gamma(ones({2}, kHalf)), "\"gamma_cpu\" not implemented for 'Half'");
  EXPECT_THROW(_standard_gamma(ones({2}).requires_grad_()), NotImplementedError);
  EXPECT_EQ(_standard_gamma(ones({2, 3}, kMeta)).sizes(), IntArrayRef({2, 3}));
  EXPECT_EQ(_sample_dirichlet(ones({2, 3}, kMeta)).sizes(), IntArrayRef({2, 3}));
  for (const Device device : devices()) {
    manual_seed(1);
    const Tensor like = full({20000}, 3.0).to(device, kFloat);
    EXPECT_NEAR(_standard_gamma(like).mean().item<float>(), 3, 0.05);
    EXPECT_NEAR(_standard_gamma(like.mul(0.1)).var().item<float>(), 0.3, 0.03);
    EXPECT_NEAR(_sample_dirichlet(like).sum().item<float>(), 1, 1e-4);
  }
}

TEST(Distributions, NewTensorsHaveTheNumbersOfTheInplaceForms) {
  const Tensor like = ones({30}, kDouble);
  const auto same = [&](const auto& create, const auto& fill) {
    manual_seed(2);
    const Tensor created = create();
    manual_seed(2);
    EXPECT_TRUE(created.equal(fill(like.clone())));
  };
  same([&] { return uniform(like, 1, 3); }, [](Tensor t) { return t.uniform_(1, 3); });
  same([&] { return exponential(like, 2); }, [](Tensor t) { return t.exponential_(2); });
  same([&] { return cauchy(like, 2, 3); }, [](Tensor t) { return t.cauchy_(2, 3); });
  same([&] { return log_normal(like, 2, 3); }, [](Tensor t) { return t.log_normal_(2, 3); });
  same([&] { return geometric(like, 0.5); }, [](Tensor t) { return t.geometric_(0.5); });
  EXPECT_TRUE(like.equal(ones({30}, kDouble)));
}

}  // namespace
}  // namespace hearth::testing
