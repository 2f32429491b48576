// Graphs over several (simulated) GPUs and streams. With one GPU, first_ equals second_, and the
// test that needs two is skipped.
#include <cmath>

#include "hearth/custom_function.h"
#include "tests/autograd/support.h"
#include "tests/support/devices.h"

namespace hearth::testing {
namespace {

class Devices : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU";
    second_ = last_gpu();
  }
  const Device first_{DeviceType::CUDA, 0};
  Device second_{DeviceType::CUDA, 0};
};

TEST_F(Devices, ToIsDifferentiable) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x.to(first_) * 2, z = y.to(second_) * 3;
  z.sum().backward();
  EXPECT_TRUE(x.grad().is_cpu());
  expect_values(x.grad(), {6, 6});
}

TEST_F(Devices, GradientsAreOnTheLeafsDevice) {
  const Tensor a = vec({1, 2}).to(first_).requires_grad_(),
               b = vec({3, 4}).to(second_).requires_grad_();
  (a.to(second_) * b).sum().backward();
  EXPECT_EQ(a.grad().device(), first_);
  EXPECT_EQ(b.grad().device(), second_);
  expect_values(a.grad(), {3, 4});
  expect_values(b.grad(), {1, 2});
  EXPECT_EQ(cuda::current_device(), 0);
}

TEST_F(Devices, CpuScalarGetsACpuGradient) {
  const Tensor number = scalar_tensor(3.0).requires_grad_(),
               x = vec({1, 2}).to(first_).requires_grad_();
  (x * number).sum().backward();
  EXPECT_TRUE(number.grad().is_cpu());
  EXPECT_EQ(number.grad().dim(), 0);
  expect_values(number.grad(), {3});
  expect_values(x.grad(), {3, 3});
}

TEST_F(Devices, VersionErrorNamesTheTensor) {
  const Tensor x = ones({2, 2}).to(first_).requires_grad_();
  const Tensor y = x.exp();
  y.add_(1);
  EXPECT_ERROR(y.sum().backward(),
               "[CUDAFloatType [2, 2]], which is output 0 of Exp, is at "
               "version 1; expected version 0 instead.");
}

TEST_F(Devices, BackwardRunsOnTheForwardStreams) {
  const Tensor x = full({1 << 16}, 0.5, TensorOptions(first_)).requires_grad_();
  for (int round = 0; round < 10; ++round) {
    x.mutable_grad().reset();
    const cuda::Stream side(first_), other(first_);
    side.wait_stream(cuda::current_stream(0));
    other.wait_stream(cuda::current_stream(0));
    Tensor a, b;
    {
      const cuda::StreamGuard guard(side);
      a = ((x * 2).exp() * 3).sum();
    }
    {
      const cuda::StreamGuard guard(other);
      b = ((x * 4).exp() * 5).sum();
    }
    cuda::current_stream(0).wait_stream(side);
    cuda::current_stream(0).wait_stream(other);
    (a + b).backward();
    const std::vector<double> got = values_of(x.grad().slice(0, 0, 4));
    for (double g : got) EXPECT_NEAR(g, 6 * std::exp(1.0) + 20 * std::exp(2.0), 1e-3);
  }
}

TEST_F(Devices, GradientsFromSeveralStreamsAreSummed) {
  const Tensor x = full({1 << 16}, 0.5, TensorOptions(first_)).requires_grad_();
  for (int round = 0; round < 10; ++round) {
    const Tensor middle = x * 1;
    Tensor total = zeros({}, TensorOptions(first_));
    for (int branch = 0; branch < 3; ++branch) {
      const cuda::Stream side(first_);
      side.wait_stream(cuda::current_stream(0));
      Tensor part;
      {
        const cuda::StreamGuard guard(side);
        part = (middle * (branch + 1)).sum();
      }
      cuda::current_stream(0).wait_stream(side);
      total = total + part;
    }
    const Tensor g = autograd::grad({total}, {middle})[0];
    expect_values(g.slice(0, 0, 3), {6, 6, 6});
    expect_values(g.slice(0, (1 << 16) - 2), {6, 6});
  }
}

/// Has results on two devices, and records the streams that are current in backward.
struct OnBoth : autograd::Function<OnBoth> {
  static variable_list forward(autograd::AutogradContext*, const Tensor& a, const Tensor& b) {
    return {a * 2, b * 3};
  }
  static variable_list backward(autograd::AutogradContext*, variable_list grads) {
    seen = {cuda::current_stream(0), cuda::current_stream(last_gpu().index())};
    return {grads[0] * 2, grads[1] * 3};
  }
  static inline std::vector<cuda::Stream> seen;
};

TEST_F(Devices, NodeUsesTheForwardStreamOfEachDevice) {
  if (first_ == second_) GTEST_SKIP() << "needs two GPUs";
  const cuda::Stream on_first(first_), on_second(second_);
  const Tensor a = ones({1 << 16}, first_).requires_grad_(),
               b = ones({1 << 16}, second_).requires_grad_();
  on_first.wait_stream(cuda::current_stream(0));
  on_second.wait_stream(cuda::current_stream(second_.index()));
  variable_list results;
  {
    const cuda::StreamGuard first(on_first), second(on_second);
    results = OnBoth::apply(a, b);
  }
  cuda::current_stream(0).wait_stream(on_first);
  cuda::current_stream(second_.index()).wait_stream(on_second);
  (results[0].sum() + results[1].sum().to(first_)).backward();
  ASSERT_EQ(OnBoth::seen.size(), 2U);
  EXPECT_EQ(OnBoth::seen[0].handle(), on_first.handle());
  EXPECT_EQ(OnBoth::seen[1].handle(), on_second.handle());
  expect_values(a.grad().slice(0, 0, 2), {2, 2});
  expect_values(b.grad().slice(0, 0, 2), {3, 3});
}

TEST_F(Devices, MemoryResizedOnAnotherStreamIsReusedAfterTheCopy) {
  const Tensor m = rand({256, 256}, first_);
  const cuda::Stream slow(first_), side(first_);
  for (int round = 0; round < 5; ++round) {
    const Tensor x = ones({1000}, first_);
    cuda::synchronize(0);
    {
      const cuda::StreamGuard guard(slow);
      Tensor product = m;
      for (int i = 0; i < 20; ++i) product = product.matmul(m);
    }
    side.wait_stream(slow);
    {
      const cuda::StreamGuard guard(side);
      x.resize_({100000});  // copies once `slow` has finished
    }
    const Tensor next = full({1000}, 9, TensorOptions(first_));
    cuda::synchronize(0);
    EXPECT_EQ(x.slice(0, 0, 1000).sum().item<double>(), 1000);
  }
}

}  // namespace
}  // namespace hearth::testing
