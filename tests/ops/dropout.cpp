#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hearth/generator.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

TEST(DropoutKinds, ReturnTheInputIfNothingIsDroppedAndCheckArguments) {
  const Tensor x = ones({2, 3});
  EXPECT_TRUE(feature_dropout(x, 0.5, false).is_same(x));
  EXPECT_TRUE(alpha_dropout(x, 0, true).is_same(x));
  EXPECT_THROW(feature_dropout(ones({3}), 0.5, true), Error);
  EXPECT_THROW(alpha_dropout(x, 1.5, false), Error);
}

TEST(DropoutKinds, ProbabilityOneDrawsNoRandomNumbers) {
  manual_seed(3);
  const Tensor wanted = rand({4});
  manual_seed(3);
  const Tensor x = full({3}, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(dropout(x, 1, true).isnan().all().item<bool>());
  EXPECT_TRUE(dropout(ones({3}, kLong), 1, true).equal(zeros({3}, kLong)));
  EXPECT_TRUE(alpha_dropout(ones({3}), 1, true).equal(zeros({3})));
  EXPECT_TRUE(rand({4}).equal(wanted));
}

TEST(DropoutKinds, FeatureDropoutDropsWholeChannels) {
  for (const Device device : devices()) {
    const Tensor x = ones({40, 5, 7}, TensorOptions(device)).requires_grad_();
    const Tensor out = feature_dropout(x, 0.25, true);
    EXPECT_TRUE(out.allclose(out.slice(2, 0, 1).expand({40, 5, 7})));
    EXPECT_NEAR(out.mean().item<double>(), 1, 0.25);
    out.sum().backward();
    EXPECT_TRUE(x.grad().equal(out));
    Tensor inplace = ones({40, 5, 7}, TensorOptions(device));
    feature_alpha_dropout_(inplace, 0.5, true);
    EXPECT_TRUE(inplace.allclose(inplace.slice(2, 0, 1).expand({40, 5, 7})));
  }
}

/// Keeps or drops whole channels; the value of a dropped one is not 0.
TEST(DropoutKinds, FeatureAlphaDropout) {
  manual_seed(5);
  const Tensor x = ones({40, 50, 6}, kDouble), y = feature_alpha_dropout(x, 0.4, true);
  const Tensor first = y.select(2, 0);
  EXPECT_TRUE(y.eq(first.unsqueeze(2)).all().item<bool>());
  const double keep_probability = 0.6, drop_probability = 0.4, selu_minimum = -1.7580993408473766;
  const double scale =
      1 / std::sqrt(keep_probability * (1 + drop_probability * selu_minimum * selu_minimum));
  const double shift = -scale * drop_probability * selu_minimum;
  const double kept = scale + shift, dropped = scale * selu_minimum + shift;
  const Tensor is_kept = first.sub(kept).abs().lt(1e-9);
  EXPECT_TRUE(is_kept.logical_or(first.sub(dropped).abs().lt(1e-9)).all().item<bool>());
  EXPECT_NEAR(is_kept.to(kDouble).mean().item<double>(), keep_probability, 0.05);
  EXPECT_TRUE(feature_alpha_dropout(x, 0.4, false).equal(x));
}

TEST(DropoutKinds, AlphaDropoutKeepsMeanAndVariance) {
  for (const Device device : devices()) {
    const Tensor out = alpha_dropout(randn({20000}, TensorOptions(device)), 0.3, true);
    EXPECT_NEAR(out.mean().item<double>(), 0, 0.05);
    EXPECT_NEAR(out.mul(out).mean().item<double>(), 1, 0.06);
  }
}

TEST(Dropout, IntegersCannotBeScaled) {
  const Tensor x = ones({4, 3}, kLong);
  for (const auto& f : {alpha_dropout, feature_dropout, feature_alpha_dropout})
    EXPECT_ERROR(f(x, 0.5, true),
                 "result type Float can't be cast to the desired output type Long");
}

TEST(DropoutKinds, NativeDropoutReturnsItsMask) {
  manual_seed(5);
  const Tensor x = ones({8}).requires_grad_();
  const auto [y, mask] = native_dropout(x, 0.5, std::nullopt);
  EXPECT_TRUE(mask.equal(tensor({0, 1, 1, 1, 1, 0, 0, 0}, kBool)));
  EXPECT_TRUE(y.equal(mask.to(kFloat).mul(2)));
  y.sum().backward();
  EXPECT_TRUE(x.grad().equal(y));
  const auto [same, all] = native_dropout(x, 0.5, false);
  EXPECT_TRUE(same.equal(x) && all.equal(ones({8}, kBool)));
  EXPECT_TRUE(std::get<0>(native_dropout(x, 1, true)).equal(zeros({8})));
  EXPECT_ERROR(native_dropout(x, 1.5, true),
               "bernoulli_ expects p to be in [0, 1], but got p=-0.5");
}

}  // namespace
}  // namespace hearth::testing
