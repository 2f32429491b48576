// Aliases of functions, and functions that are the identity for real tensors.
#include <gtest/gtest.h>

#include "hearth/operators.h"
#include "hearth/tensor_literal.h"

namespace hearth {
namespace {

TEST(OtherNames, SpecialFunctionsMatchTheirCounterparts) {
  const Tensor x = tensor({-0.9, -0.25, 0.0, 0.5, 0.75});
  EXPECT_TRUE(special_erf(x).equal(x.erf()));
  EXPECT_TRUE(special_erfc(x).equal(x.erfc()));
  EXPECT_TRUE(special_erfinv(x).equal(x.erfinv()));
  EXPECT_TRUE(special_exp2(x).equal(x.exp2()));
  EXPECT_TRUE(special_expm1(x).equal(x.expm1()));
  EXPECT_TRUE(special_expit(x).equal(x.sigmoid()));
  EXPECT_TRUE(special_log1p(x).equal(x.log1p()));
  EXPECT_TRUE(special_round(x, 1).equal(x.round(1)));
  EXPECT_TRUE(special_softmax(x, 0).equal(x.softmax(0)));
  EXPECT_TRUE(special_log_softmax(x, 0).equal(x.log_softmax(0)));
  EXPECT_TRUE(special_logsumexp(x, {0}).equal(x.logsumexp({0})));
  EXPECT_TRUE(special_xlogy(x, x.abs()).equal(x.xlogy(x.abs())));
}

TEST(OtherNames, RealTensorsAreTheirOwnConjugates) {
  const Tensor x = tensor({1.5, -2.0});
  EXPECT_TRUE(conj_physical(x).equal(x));
  EXPECT_TRUE(resolve_conj(x).is_same(x));
  EXPECT_TRUE(resolve_neg(x).is_same(x));
  EXPECT_TRUE(real(x).is_same(x));
}

TEST(OtherNames, BroadcastToExpands) {
  const Tensor x = tensor({1.0, 2.0});
  const Tensor wide = broadcast_to(x, {3, 2});
  EXPECT_EQ(wide.sizes(), IntArrayRef({3, 2}));
  EXPECT_EQ(wide.strides(), IntArrayRef({0, 1}));
}

}  // namespace
}  // namespace hearth
