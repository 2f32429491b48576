// Activations with a slope per channel or per element: prelu, rrelu; and log_sigmoid_forward.
#include <gtest/gtest.h>

#include <cmath>

#include "hearth/autograd.h"
#include "hearth/generator.h"
#include "hearth/operators.h"
#include "hearth/stream.h"
#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

Row prelu_row() {
  Row row;
  row.name = "prelu";
  row.covers = {"prelu", "_prelu_kernel"};
  row.cases = {{{{2, 3, 4}}, {{3}}}, {{{5}}, {{1}}},    {{{2, 3}}, {{}}},       {{{}}, {{}}},
               {{{}}, {{1}}},        {{{0, 3}}, {{3}}}, {{{2, 3, 2, 2}}, {{3}}}};
  row.keeps_memory_format = true;
  row.slack = 2;
  row.call = [](const Tensors& in) { return Tensors{prelu(in[0], in[1])}; };
  row.reference = [](const Arrays& in) {
    return Arrays{build(in[0].sizes, [&](const Position& p) {
      const double x = at(in[0], p);
      const auto& weights = in[1].values;
      return x > 0 ? x : x * weights[weights.size() == 1 ? 0 : size_t(p[1])];
    })};
  };
  row.refusals = {{[] {
                     prelu(ones({2, 3}), ones({2}));
                   },
                   "Mismatch of parameter numbers and input channel size. Found parameter numbers "
                   "= 2 and channel size = 3."},
                  {[] { prelu(ones({}), ones({2})); }, "Not allow zero-dim input tensor."},
                  {[] {
                     prelu(ones({2, 3}), ones({1, 3}));
                   },
                   "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = 2"},
                  {[] {
                     prelu(ones({2, 3}), ones({3}, kDouble));
                   },
                   "prelu: Type promoting not supported. Got Float and Double"},
                  {[] { prelu(ones({2}, kLong), ones({1}, kLong)); },
                   "\"_prelu_kernel\" not implemented for 'Long'"}};
  return row;
}

const Register prelu_registered{prelu_row()};

Tensor ramp(const TensorOptions& options = {}) {
  return (arange(8, options.dtype(kFloat)) - 4).reshape({2, 4});
}

void expect_values(const Tensor& got, const std::vector<double>& wanted) {
  expect_close(got.reshape({-1}), Array{{int64_t(wanted.size())}, wanted}, 2, "");
}

// The values are PyTorch's, also for the second element, 0.
TEST(Prelu, HasPyTorchsSecondDerivatives) {
  const Tensor x = tensor({-2., 0., 3.}).requires_grad_();
  const Tensor weight = tensor({0.25}).requires_grad_();
  const Tensor g = tensor({0.5, 0.75, 2.}).requires_grad_();
  const auto first = autograd::grad({prelu(x, weight)}, {x, weight}, {g}, true, true);
  expect_values(first[0], {0.125, 0.1875, 2});
  expect_values(first[1], {-1});
  const auto of_x = autograd::grad({first[0].sum()}, {x, weight, g}, {}, true);
  expect_values(of_x[0], {0, 0, 0});
  expect_values(of_x[1], {0.5});
  expect_values(of_x[2], {0.25, 1, 1});
  const auto of_weight = autograd::grad({first[1].sum()}, {x, weight, g}, {}, true);
  expect_values(of_weight[0], {0.5, 0, 0});
  expect_values(of_weight[1], {0});
  expect_values(of_weight[2], {-2, 0, 0});
}

// The values are PyTorch's for the same seed.
TEST(RRelu, DrawsPyTorchsSlopes) {
  manual_seed(1);
  const Tensor x = ramp().requires_grad_();
  const Tensor y = rrelu(x, 0.1, 0.5, true);
  expect_values(y, {-0.497685254, -0.569465399, -0.387402028, -0.170839697, 0, 1, 2, 3});
  EXPECT_NEAR(rand({1}).item<double>(), 0.6387, 1e-4);  // the generator's next number
  const std::vector<double> slopes{0.124421313, 0.18982181, 0.193701014, 0.170839697,
                                   0.322427213, 1,          1,           1};
  y.sum().backward();
  expect_values(x.grad(), slopes);
  manual_seed(1);
  Tensor inplace = ramp();
  rrelu_(inplace, 0.1, 0.5, true);
  EXPECT_TRUE(inplace.equal(y));
  manual_seed(1);
  Tensor noise = zeros({2, 4}), out = empty({0});
  EXPECT_TRUE(rrelu_with_noise_out(out, ramp(), noise, 0.1, 0.5, true).equal(y));
  expect_values(noise, slopes);
  manual_seed(1);
  expect_values(rrelu(ramp().t(), 0.1, 0.5, true),
                {-0.497685254, 0, -0.581103027, 1, -0.341679394, 2, -0.322427213, 3});
}

TEST(RRelu, SlopesLieBetweenTheLimitsOnEveryDevice) {
  for (const Device device : devices())
    for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
      const Tensor x = ramp(device).to(dtype).repeat({30, 20});
      Tensor noise = zeros_like(x), self = x.clone();
      const Tensor y = rrelu_with_noise_(self, noise, 0.25, 0.5, true);
      EXPECT_EQ(y.scalar_type(), dtype);
      EXPECT_TRUE(noise.masked_select(x.gt(0)).eq(1).all().item<bool>());
      const Tensor slopes = noise.masked_select(x.le(0));
      EXPECT_TRUE(slopes.ge(0.25).logical_and(slopes.le(0.5)).all().item<bool>());
      EXPECT_NEAR(slopes.to(kDouble).mean().item<double>(), 0.375, 0.02);
      EXPECT_TRUE(y.allclose(x * noise, 1e-2, 0));
      EXPECT_TRUE(rrelu(x, 0.25, 0.5).allclose(leaky_relu(x, 0.375)));
      manual_seed(2);
      const Tensor expected = rrelu(x, 0.25, 0.5, true);
      manual_seed(2);
      Tensor inplace = x.clone();
      EXPECT_TRUE(rrelu_(inplace, 0.25, 0.5, true).equal(expected)) << dtype << " on " << device;
    }
}

TEST(RRelu, SpecialValuesAndErrors) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor y = rrelu(tensor({std::nan(""), inf, -inf}), 0.1, 0.5, true);
  EXPECT_TRUE(y.isnan().equal(tensor({true, false, false})));
  EXPECT_TRUE(y.slice(0, 1).equal(tensor({inf, -inf})));
  EXPECT_EQ(rrelu(empty({0, 3}), 0.1, 0.5, true).sizes(), IntArrayRef({0, 3}));
  EXPECT_EQ(rrelu(empty({2, 3}, kMeta), 0.1, 0.5, true).sizes(), IntArrayRef({2, 3}));
  EXPECT_ERROR(rrelu(ones({3}), 2, 1),
               "Lower bound should be less than or equal to the upper bound");
  Tensor unused = zeros({1});  // without training, rrelu_with_noise takes the limits in any order
  EXPECT_TRUE(rrelu_with_noise(tensor({-2.0}), unused, 2, 1).equal(tensor({-3.0})));
  EXPECT_ERROR(rrelu_with_noise(tensor({-2.0}), unused, 2, 1, true),
               "Lower bound should be less than or equal to the upper bound");
  EXPECT_ERROR(rrelu(ones({3}, kLong), 0, 1, true), "not implemented for 'Long'");
  Tensor noise = zeros({3});
  EXPECT_ERROR(rrelu_with_noise(ones({2}), noise, 0.1, 0.5, true),
               "noise tensor shape must match self tensor shape.");
}

TEST(LogSigmoidForward, ReturnsTheBufferOfPyTorch) {
  const Tensor x = tensor({-2.0, 0.0, 3.0}, kDouble).requires_grad_();
  auto [output, buffer] = log_sigmoid_forward(x);
  EXPECT_TRUE(output.equal(log_sigmoid(x)));
  EXPECT_TRUE(buffer.allclose((-x.detach().abs()).exp()));
  EXPECT_FALSE(buffer.requires_grad());
  Tensor out = empty({0}, kDouble), other = empty({0}, kDouble);
  log_sigmoid_forward_out(out, other, x.detach());
  EXPECT_TRUE(out.equal(output.detach()) && other.equal(buffer));
  out.copy_(x.detach());
  log_sigmoid_forward_out(out, other, out);
  EXPECT_TRUE(out.equal(output.detach()) && other.equal(buffer));
}

}  // namespace
}  // namespace hearth::testing
