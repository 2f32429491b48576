// diff, integrals by the trapezoidal rule, vander.
#include <gtest/gtest.h>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

TEST(Differences, OrdersAndJoinedTensors) {
  for (const Device device : devices()) {
    const Tensor x = tensor({1.f, 2.f, 4.f}).to(device, kFloat);
    EXPECT_TRUE(x.diff().cpu().equal(tensor({1.f, 2.f})));
    EXPECT_TRUE(x.diff(2).cpu().equal(tensor({1.f})));
    EXPECT_EQ(x.diff(5).numel(), 0);
    EXPECT_TRUE(x.diff(0).equal(x));
    const Tensor zero = zeros({1}).to(device, kFloat), nine = full({1}, 9.f).to(device, kFloat);
    EXPECT_TRUE(diff(x, 2, -1, zero, nine).cpu().equal(tensor({0.f, 1.f, 3.f})));
  }
  EXPECT_TRUE(diff(tensor({true, false, false})).equal(tensor({true, false})));
  EXPECT_EQ(ones({2, 3}).diff(1, 0).sizes().vec(), (std::vector<int64_t>{1, 3}));
}

TEST(Differences, GradientsAndRefusals) {
  const Tensor x = tensor({1.f, 2.f, 4.f}).requires_grad_();
  x.diff().mul(tensor({1.f, 10.f})).sum().backward();
  EXPECT_TRUE(x.grad().equal(tensor({-1.f, -9.f, 10.f})));
  EXPECT_ERROR(ones({}).diff(), "diff expects input to be at least one-dimensional");
  EXPECT_ERROR(ones({2}).diff(-1), "order must be non-negative but got -1");
  EXPECT_ERROR(ones({2}).diff(1, 0, ones({1, 1})),
               "diff expects prepend or append to be the same dimension as input");
  EXPECT_ERROR(ones({2, 3}).diff(1, 0, {}, ones({1, 2})),
               "input.size(1) = 3, but got tensor.size(1) = 2");
}

TEST(Differences, Integrals) {
  const Tensor y = tensor({1, 2, 3}), x = tensor({1.f, 2.f, 4.f});
  EXPECT_TRUE(trapezoid(y).equal(tensor(4.f)));
  EXPECT_TRUE(trapz(y, 2.0).equal(tensor(8.f)));
  EXPECT_TRUE(trapezoid(y, x).equal(tensor(6.5f)));
  EXPECT_TRUE(trapz(y, x).equal(trapezoid(y, x)));
  EXPECT_TRUE(cumulative_trapezoid(y).equal(tensor({1.5f, 4.f})));
  EXPECT_TRUE(cumulative_trapezoid(y, x).equal(tensor({1.5f, 6.5f})));
  EXPECT_EQ(trapezoid(ones({0, 3}), 1, 0).sizes().vec(), (std::vector<int64_t>{3}));
  EXPECT_TRUE(trapezoid(ones({3, 2}), x, 0).equal(tensor({3.f, 3.f})));
  EXPECT_ERROR(trapezoid(y, tensor({1, 2})),
               "trapezoid: There must be one `x` value for each sample point");
  EXPECT_ERROR(trapezoid(ones({2}, kBool)),
               "trapezoid: received a bool input for `y`, but bool is not supported");
  EXPECT_ERROR(cumulative_trapezoid(y, Scalar(true)),
               "cumulative_trapezoid: Currently, we only support dx as a real number.");
}

TEST(Differences, Vander) {
  EXPECT_TRUE(vander(tensor({1, 2, 3})).equal(tensor({{1, 1, 1}, {4, 2, 1}, {9, 3, 1}}, kLong)));
  EXPECT_TRUE(vander(tensor({2.f, 3.f}), 2, true).equal(tensor({{1.f, 2.f}, {1.f, 3.f}})));
  EXPECT_EQ(vander(tensor({1, 2}), 0).sizes().vec(), (std::vector<int64_t>{2, 0}));
  EXPECT_EQ(vander(tensor({true, false})).scalar_type(), kLong);
  EXPECT_ERROR(vander(ones({2, 2})), "x must be a one-dimensional tensor.");
  EXPECT_ERROR(vander(ones({2}), -1), "N must be non-negative.");
}

}  // namespace
}  // namespace hearth::testing
