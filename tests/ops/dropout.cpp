#include <gtest/gtest.h>

#include <limits>

#include "hearth/generator.h"
#include "hearth/operators.h"
#include "tests/support/op_table.h"

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

TEST(DropoutKinds, AlphaDropoutKeepsMeanAndVariance) {
  for (const Device device : devices()) {
    const Tensor out = alpha_dropout(randn({20000}, TensorOptions(device)), 0.3, true);
    EXPECT_NEAR(out.mean().item<double>(), 0, 0.05);
    EXPECT_NEAR(out.mul(out).mean().item<double>(), 1, 0.06);
  }
}

}  // namespace
}  // namespace hearth::testing
