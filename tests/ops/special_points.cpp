// Derivatives of higher order at points where a formula divides by zero, changes its branch or
// overflows: the values are LibTorch's.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/reduction.h"
#include "hearth/special.h"
#include "hearth/tensor_literal.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using Function = std::function<Tensor(const Tensor&)>;

/// The n-th derivative of f at x, in float64.
double derivative(const Function& f, double x, int n) {
  const Tensor point = full({}, x, TensorOptions(kDouble)).requires_grad_();
  Tensor value = f(point);
  for (int i = 0; i < n; ++i)
    value = autograd::grad({value}, {point}, {}, {}, /*create_graph=*/true)[0];
  return value.item<double>();
}

TEST(SpecialPoints, DistancesOfPointsWithAnEqualCoordinate) {
  // d = sqrt(0 + 1.5²); the second derivative in the equal coordinate is 1 / d.
  const Function from_equal = [](const Tensor& x) {
    return cdist(stack({x, full({}, 0.5, kDouble)}).view({1, 2}), tensor({{1.0, 2.0}}, kDouble))
        .sum();
  };
  EXPECT_NEAR(derivative(from_equal, 1, 2), 1 / 1.5, 1e-12);
  EXPECT_NEAR(derivative(from_equal, 1, 4), -3 / std::pow(1.5, 3), 1e-9);
  const Function between_rows = [](const Tensor& x) {
    return pdist(cat({stack({x, full({}, 0.5, kDouble)}).view({1, 2}),
                      tensor({{1.0, 2.0}}, kDouble)}))
        .sum();
  };
  EXPECT_NEAR(derivative(between_rows, 1, 2), 1 / 1.5, 1e-12);
}

TEST(SpecialPoints, PowersOfZero) {
  for (const double exponent : {0.0, 1.0}) {
    const Function power = [=](const Tensor& x) { return x.pow(exponent) + x * 0 * x * x; };
    EXPECT_EQ(derivative(power, 0, 1), exponent);
    EXPECT_EQ(derivative(power, 0, 2), 0);
    EXPECT_EQ(derivative(power, 0, 3), 0);
  }
}

TEST(SpecialPoints, BoundsOfPiecewiseFunctions) {
  const auto at_zero = [](const Function& f) { return derivative(f, 0, 2); };
  EXPECT_EQ(at_zero([](const Tensor& x) { return elu(x, 1.5, 2.0, 0.7); }), 0);
  EXPECT_EQ(at_zero([](const Tensor& x) { return selu(x); }), 0);
  EXPECT_EQ(at_zero([](const Tensor& x) { return celu(x, 0.7); }), 0);
  const Tensor zero = zeros({}, kDouble);
  for (const double d : {-1.0, 1.0}) {
    EXPECT_EQ(derivative([&](const Tensor& x) { return huber_loss(x, zero); }, d, 2), 0);
    EXPECT_EQ(derivative([&](const Tensor& x) { return smooth_l1_loss(x, zero); }, d, 2), 0);
    EXPECT_EQ(derivative([&](const Tensor& x) { return huber_loss(x, zero); }, d, 1), d);
  }
}

TEST(SpecialPoints, LogNdtrFarFromZero) {
  const Function f = [](const Tensor& x) { return special_log_ndtr(x); };
  for (const double x : {100.0, 1000.0, 1e30}) EXPECT_EQ(derivative(f, x, 2), 0) << x;
  const double density = std::exp(-50) / std::sqrt(2 * M_PI);  // at 10, where ndtr is almost 1
  EXPECT_NEAR(derivative(f, 10, 2) / (-10 * density), 1, 1e-10);
  // With the ratio r = density / ndtr = sqrt(2 / pi) at 0, the second derivative is -r².
  EXPECT_NEAR(derivative(f, 0, 2), -2 / M_PI, 1e-12);
  EXPECT_NEAR(derivative(f, 0, 1), std::sqrt(2 / M_PI), 1e-12);
}

TEST(SpecialPoints, OpsWithoutADerivativeThrowInBackward) {
  const Tensor x = ones({2}).requires_grad_();
  const Tensor step = x.heaviside(ones({2}));
  EXPECT_TRUE(step.requires_grad());
  EXPECT_ERROR(step.sum().backward(), "derivative for heaviside is not implemented");
  const Tensor changed = x * 1;
  changed.heaviside_(ones({2}));
  EXPECT_ERROR(changed.sum().backward(), "derivative for heaviside is not implemented");
}

}  // namespace
}  // namespace hearth::testing
