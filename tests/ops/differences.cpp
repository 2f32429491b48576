// diff, gradient, integrals by the trapezoidal rule, vander.
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

TEST(Differences, GradientsOfEqualDistances) {
  const Tensor x = tensor({1.f, 2.f, 4.f, 8.f, 16.f});
  EXPECT_TRUE(gradient(x)[0].equal(tensor({1.f, 1.5f, 3.f, 6.f, 8.f})));
  EXPECT_TRUE(
      gradient(x, std::nullopt, std::nullopt, 2)[0].equal(tensor({0.5f, 1.5f, 3.f, 6.f, 10.f})));
  EXPECT_TRUE(gradient(x.to(kLong), std::optional<Scalar>(2))[0].equal(
      tensor({0.5f, 0.75f, 1.5f, 3.f, 4.f})));
  const Tensor matrix = arange(12, kFloat).view({3, 4}).square();
  const std::vector<Tensor> both = gradient(matrix);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_TRUE(both[0][0].equal(tensor({16.f, 24.f, 32.f, 40.f})));
  EXPECT_TRUE(both[1][0].equal(tensor({1.f, 2.f, 4.f, 5.f})));
  EXPECT_TRUE(gradient(matrix, Scalar(2), IntArrayRef({1}))[0].equal(both[1].div(2)));
  EXPECT_TRUE(gradient(matrix, IntArrayRef({-1, 0}))[0].equal(both[1]));
  const std::vector<Scalar> distances{2, 4};
  EXPECT_TRUE(gradient(matrix, distances)[1].equal(both[1].div(4)));
  EXPECT_TRUE(gradient(matrix, distances, IntArrayRef({1, 0}))[0].equal(both[1].div(2)));
  EXPECT_TRUE(gradient(matrix, Scalar(2), IntArrayRef({0}))[0].equal(both[0].div(2)));
  EXPECT_TRUE(gradient(ones({})).empty());
}

TEST(Differences, GradientsAtCoordinates) {
  // The derivative of a parabola is exact at any points.
  const Tensor points = tensor({0, 1, 3, 4, 7}, kDouble), values = points.square();
  EXPECT_TRUE(gradient(values, TensorList({points}), std::nullopt, 2)[0].allclose(points.mul(2)));
  EXPECT_TRUE(
      gradient(values, TensorList({points}))[0].allclose(tensor({1, 2, 6, 8, 11}, kDouble)));
  // The products of these distances leave the dtype's range.
  const Tensor bytes = tensor({0, 10, 30, 60, 127}, kChar), sums = bytes.to(kFloat) * 3;
  EXPECT_TRUE(gradient(sums, TensorList({bytes}), std::nullopt, 2)[0].allclose(full({5}, 3.0)));
  const Tensor falling = tensor({9, 6, 4, 0}, kByte);
  EXPECT_TRUE(gradient(falling.to(kFloat), TensorList({falling}))[0].allclose(ones({4})));
  const Tensor grid = values.unsqueeze(0).expand({3, 5});
  EXPECT_TRUE(gradient(grid, TensorList({points}), std::optional<int64_t>(1), 2)[0][2].allclose(
      points.mul(2)));
  EXPECT_TRUE(
      gradient(grid, TensorList({points}), IntArrayRef({1}), 2)[0][1].allclose(points.mul(2)));
  const Tensor x = tensor({1, 3, 2, 5, 4}, kDouble).requires_grad_();
  gradient(x, TensorList({points}))[0].sum().backward();
  EXPECT_TRUE(x.grad().allclose(tensor({-5. / 3, 4. / 3, -13. / 12, 1., 5. / 12}, kDouble), 1e-12));
}

TEST(Differences, GradientsRefuseArgumentsThatDoNotFit) {
  const Tensor matrix = ones({3, 4});
  const std::vector<Scalar> one{2}, two{2, 3};
  EXPECT_ERROR(
      gradient(matrix, one, IntArrayRef({0, 1})),
      "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim "
      "arguments to have the same length, but got a spacing argument of length 1 and a dim "
      "argument of length 2.");
  EXPECT_ERROR(gradient(matrix, one),
               "torch.gradient expected spacing to be unspecified, a scalar, or a list of length "
               "equal to 'self.dim() = 2', since dim argument was not given, but got a list of "
               "length 1");
  EXPECT_ERROR(gradient(matrix, IntArrayRef({0, 0})),
               "dim 0 appears multiple times in the list of dims");
  EXPECT_ERROR(gradient(matrix, Scalar(1), IntArrayRef({0}), 3),
               "torch.gradient only supports edge_order=1 and edge_order=2.");
  EXPECT_ERROR(gradient(ones({2}), Scalar(1), IntArrayRef({0}), 2),
               "torch.gradient expected each dimension size to be at least edge_order+1");
  EXPECT_ERROR(gradient(ones({3}, kByte)), "torch.gradient does not support uint8 input.");
  for (const int64_t count : {2, 4})
    EXPECT_ERROR(gradient(ones({3}), TensorList({arange(count)})),
                 "torch.gradient expected one coordinate for each element along dim 0, but got " +
                     std::to_string(count) + " coordinates for 3 elements");
  EXPECT_ERROR(gradient(ones({3}), TensorList({matrix})),
               "torch.gradient expected each element of spacing to have one dimension, but got an "
               "element with 2 dimensions!");
}

}  // namespace
}  // namespace hearth::testing
