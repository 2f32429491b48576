// Graphs over several (simulated) GPUs and streams; runs where there are two.
#include <cmath>

#include "tests/autograd/support.h"

namespace hearth::testing {
namespace {

class Devices : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  }
  const Device first_{DeviceType::CUDA, 0}, second_{DeviceType::CUDA, 1};
};

TEST_F(Devices, GradientsFlowBackThroughTo) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x.to(first_) * 2, z = y.to(second_) * 3;
  z.sum().backward();
  EXPECT_TRUE(x.grad().is_cpu());
  expect_values(x.grad(), {6, 6});
}

TEST_F(Devices, LeavesOnBothDevices) {
  const Tensor a = vec({1, 2}).to(first_).requires_grad_(),
               b = vec({3, 4}).to(second_).requires_grad_();
  (a.to(second_) * b).sum().backward();
  EXPECT_EQ(a.grad().device(), first_);
  EXPECT_EQ(b.grad().device(), second_);
  expect_values(a.grad(), {3, 4});
  expect_values(b.grad(), {1, 2});
  EXPECT_EQ(cuda::current_device(), 0);
}

TEST_F(Devices, ACpuNumberAmongDeviceTensors) {
  const Tensor number = scalar_tensor(3.0).requires_grad_(),
               x = vec({1, 2}).to(first_).requires_grad_();
  (x * number).sum().backward();
  EXPECT_TRUE(number.grad().is_cpu());
  EXPECT_EQ(number.grad().dim(), 0);
  expect_values(number.grad(), {3});
  expect_values(x.grad(), {3, 3});
}

TEST_F(Devices, ModifiedTensorsAreNamed) {
  const Tensor x = ones({2, 2}).to(first_).requires_grad_();
  const Tensor y = x.exp();
  y.add_(1);
  EXPECT_ERROR(y.sum().backward(),
               "[torch.cuda.FloatTensor [2, 2]], which is output 0 of ExpBackward0, is at "
               "version 1; expected version 0 instead.");
}

TEST_F(Devices, BackwardRunsOnTheForwardsStreams) {
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

TEST_F(Devices, SumsOfGradientsFromTwoStreams) {
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

}  // namespace
}  // namespace hearth::testing
