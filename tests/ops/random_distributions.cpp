// cauchy_, log_normal_, geometric_, poisson and binomial: PyTorch's numbers, means, gradients and
// errors.
#include <gtest/gtest.h>

#include <cmath>

#include "hearth/autograd.h"
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
  const Tensor filled = ones({3}).requires_grad_().mul(1);
  filled.cauchy_();
  EXPECT_TRUE(filled.requires_grad());
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

}  // namespace
}  // namespace hearth::testing
