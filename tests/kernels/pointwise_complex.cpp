#include <gtest/gtest.h>

#include "functors/arithmetic.h"
#include "functors/compare.h"
#include "functors/division.h"
#include "tests/kernels/pointwise_support.h"

namespace hearth::testing {
namespace {

TEST(Pointwise, ComputesComplexNumbers) {
  using C = complex<float>;
  const std::vector<C> a{{1, 2}, {0, 0}, {-3, 0.5f}, {1e30f, 1e30f}},
      b{{3, -1}, {0, 1}, {2, 2}, {1e30f, 1e30f}};
  for (const cpu::PointwiseTable* table : tables()) {
    const auto binary = [&](const auto& functor) {
      return apply<C>(*table, functor, Formula::kValue, {a, b});
    };
    EXPECT_EQ(binary(fn::Add{{2, 2}})[0], C(7, 0));
    EXPECT_EQ(binary(fn::Sub{})[2], C(-5, -1.5f));
    EXPECT_EQ(binary(fn::Mul{})[0], C(5, 5));
    EXPECT_EQ(binary(fn::Div{})[2], C(-0.625f, 0.875f));
    EXPECT_EQ(binary(fn::Div{})[3], C(1, 0));
    EXPECT_EQ(apply<C>(*table, fn::Neg{}, Formula::kValue, {a})[2], C(3, -0.5f));
    EXPECT_EQ(
        apply<C>(*table, fn::Where{}, Formula::kValue, {{C(1), C(0), C(0), C(0, 1)}, a, b})[1],
        b[1]);
    bool equal[4];
    const auto flat = [](const std::vector<C>& v) {
      return operand(const_cast<C*>(v.data()), kComplexFloat, {1});
    };
    cpu::run_with(*table, params(fn::Eq{}, Formula::kValue, kComplexFloat, {4},
                                 operand(equal, kBool, {1}), {flat(a), flat(b)}));
    EXPECT_FALSE(equal[0] || equal[1] || equal[2]);
    EXPECT_TRUE(equal[3]);
  }
}

}  // namespace
}  // namespace hearth::testing
