// Gradients of complex tensors: history, views, and operators without complex gradients. In
// tests/ops/complex*.cpp, the operators' derivatives are compared with finite differences.
#include <complex>

#include "tests/autograd/support.h"

namespace hearth::testing {
namespace {

using Number = std::complex<float>;

Tensor numbers(std::vector<Number> values) {
  return from_blob(values.data(), {int64_t(values.size())}, TensorOptions(kComplexFloat)).clone();
}

std::vector<Number> elements(const Tensor& t) {
  const Tensor packed = t.detach().contiguous();
  const auto* data = static_cast<const Number*>(packed.data_ptr());
  return {data, data + packed.numel()};
}

const std::vector<Number> kValues{{1, 2}, {3, -4}};

TEST(ComplexGradients, PointAlongTheSteepestAscent) {
  const Tensor z = numbers(kValues).requires_grad_();
  z.abs().square().sum().backward();
  EXPECT_EQ(elements(z.grad()), (std::vector<Number>{{2, 4}, {6, -8}}));
}

TEST(ComplexGradients, OfRealInputsAreReal) {
  const Tensor x = leaf({1, 2}), w = numbers(kValues);
  real(x * w).sum().backward();
  EXPECT_EQ(x.grad().scalar_type(), kFloat);
  EXPECT_EQ(x.grad()[1].item<float>(), 3);
  x.mutable_grad() = Tensor();
  imag(w.clone().mul_(x)).sum().backward();
  EXPECT_EQ(x.grad()[1].item<float>(), -4);
  x.mutable_grad() = Tensor();
  Tensor target = w.clone();
  target[0].copy_(x[0]);
  (real(target) + imag(target)).sum().backward();
  EXPECT_EQ(x.grad()[0].item<float>(), 1);
  EXPECT_EQ(x.grad()[1].item<float>(), 0);
}

TEST(ComplexGradients, WritesToPartsRebuildTheHistoryOfTheirBase) {
  const Tensor z = numbers(kValues).requires_grad_(), x = leaf({5, 6});
  const Tensor y = z * 1;
  imag(y).mul_(x);
  (real(y) * 2 + imag(y)).sum().backward();
  EXPECT_EQ(elements(z.grad()), (std::vector<Number>{{2, 5}, {2, 6}}));
  EXPECT_EQ(x.grad()[1].item<float>(), -4);
}

TEST(ComplexGradients, PartsFollowWritesToTheirBase) {
  const Tensor z = numbers(kValues).requires_grad_();
  const Tensor y = z * 1, part = imag(y);
  y.mul_(numbers({{0, 1}, {0, 1}}));  // now imag(y) is real(z)
  part.sum().backward();
  EXPECT_EQ(elements(z.grad()), (std::vector<Number>{1, 1}));
}

TEST(ComplexGradients, WritesToComplexViewsOfRealTensors) {
  const Tensor x = leaf({1, 2, 3, 4}), y = x.view({2, 2}) * 1;
  view_as_complex(y)[1].mul_(numbers({{0, 2}})[0]);  // (3 + 4i) * 2i = -8 + 6i
  y.sum().backward();
  EXPECT_EQ(y[1][0].item<float>(), -8);
  EXPECT_EQ(x.grad()[2].item<float>(), 2);
  EXPECT_EQ(x.grad()[3].item<float>(), -2);
}

TEST(ComplexGradients, OfUnsupportedOperatorsThrow) {
  const Tensor z = numbers(kValues).requires_grad_();
  EXPECT_ERROR(embedding(z.view({2, 1}), zeros({1}, kLong)),
               "gradients of complex tensors are not implemented");
}

TEST(ComplexGradients, AreNotNeededForDetachedTensors) {
  const Tensor z = numbers(kValues).requires_grad_();
  EXPECT_EQ(elements(z.detach() * z.detach())[0], Number(-3, 4));
  const NoGradGuard off;
  EXPECT_EQ(elements(z * z)[0], Number(-3, 4));
  EXPECT_TRUE((z == z).all().item<bool>());
}

}  // namespace
}  // namespace hearth::testing
