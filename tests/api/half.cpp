// Arithmetic of Half and BFloat16, as in LibTorch: results are rounded after each operation, and
// are float or double if the other operand is one.
#include "hearth/half.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <type_traits>

namespace hearth::testing {
namespace {

template <class T>
class HalfNumbers : public ::testing::Test {};
using Types = ::testing::Types<Half, BFloat16>;
TYPED_TEST_SUITE(HalfNumbers, Types);

TYPED_TEST(HalfNumbers, ResultsHaveLibTorchsTypes) {
  TypeParam a(2.0F);
  static_assert(std::is_same_v<decltype(a + a), TypeParam>);
  static_assert(std::is_same_v<decltype(a * 2), TypeParam>);
  static_assert(std::is_same_v<decltype(int64_t(2) / a), TypeParam>);
  static_assert(std::is_same_v<decltype(-a), TypeParam>);
  static_assert(std::is_same_v<decltype(a * 2.0F), float>);
  static_assert(std::is_same_v<decltype(2.0 - a), double>);
  a += 1;
  a *= TypeParam(2.0F);
  a -= 0.5F;
  EXPECT_EQ(float(a), 5.5F);
  a /= 2;
  EXPECT_EQ(float(std::max(a, a * 2)), 5.5F);
  EXPECT_EQ(float(-a), -2.75F);
}

TEST(HalfRounding, AfterEachOperation) {
  const Half large(2048.0F), one(1.0F);
  EXPECT_EQ(float(large + one + one), 2048.0F);
  EXPECT_EQ(large + one, large);
  EXPECT_EQ(float(one / Half(3.0F)), 0.333251953125F);
  EXPECT_EQ(float(BFloat16(256.0F) + BFloat16(1.0F)), 256.0F);
  Half sum = 0;
  for (int i = 0; i < 3000; ++i) sum += one;
  EXPECT_EQ(float(sum), 2048.0F);
}

}  // namespace
}  // namespace hearth::testing
