// Autocast regions, gradients through casts, and the cache of weights' casts.
#include "hearth/autocast.h"

#include <thread>

#include "tests/autograd/support.h"

namespace hearth::testing {
namespace {

bool is_enabled(DeviceType type) { return autocast::is_autocast_enabled(type); }

std::vector<Device> some_devices() {
  std::vector<Device> devices{Device(kCPU)};
  if (cuda::is_available()) devices.push_back(Device(kCUDA, 0));
  return devices;
}

Tensor weight_on(Device device) { return (eye(2) * 2).to(device).requires_grad_(); }
Tensor input_on(Device device) { return vec({1, 2, 3, 4}).view({2, 2}).to(device); }

/// The recorded cast of b in a.mm(b).
const autograd::Node* cast_below(const Tensor& product) {
  return product.grad_fn()->next_edge(1).function.get();
}

TEST(AutocastMode, DefaultsMatchPyTorch) {
  EXPECT_FALSE(is_enabled(kCPU) || is_enabled(kCUDA));
  EXPECT_EQ(autocast::get_autocast_dtype(kCPU), kBFloat16);
  EXPECT_EQ(autocast::get_autocast_dtype(kCUDA), kHalf);
  EXPECT_TRUE(autocast::is_autocast_cache_enabled());
}

TEST(AutocastMode, RegionsNestPerDeviceType) {
  {
    const AutocastMode outer(kCPU, kHalf);
    EXPECT_TRUE(is_enabled(kCPU) && !is_enabled(kCUDA));
    EXPECT_EQ(autocast::get_autocast_dtype(kCPU), kHalf);
    EXPECT_EQ(ones({1, 1}).mm(ones({1, 1})).scalar_type(), kHalf);
    {
      const AutocastMode off(kCPU, {}, false, false);
      EXPECT_FALSE(is_enabled(kCPU) || autocast::is_autocast_cache_enabled());
      EXPECT_EQ(autocast::get_autocast_dtype(kCPU), kHalf);
      EXPECT_EQ(ones({1, 1}).mm(ones({1, 1})).scalar_type(), kFloat);
      const AutocastMode inner(kCPU, kBFloat16);
      EXPECT_TRUE(is_enabled(kCPU) && !autocast::is_autocast_cache_enabled());
      EXPECT_EQ(ones({1, 1}).mm(ones({1, 1})).scalar_type(), kBFloat16);
    }
    EXPECT_TRUE(is_enabled(kCPU) && autocast::is_autocast_cache_enabled());
    EXPECT_EQ(autocast::get_autocast_dtype(kCPU), kHalf);
  }
  EXPECT_FALSE(is_enabled(kCPU));
  EXPECT_EQ(autocast::get_autocast_dtype(kCPU), kBFloat16);
}

TEST(AutocastMode, RegionEndsOnException) {
  try {
    const AutocastMode region(kCPU);
    zeros({2}).view({3});
  } catch (const Error&) {
  }
  EXPECT_FALSE(is_enabled(kCPU));
}

TEST(AutocastMode, IsPerThread) {
  const AutocastMode region(kCPU);
  bool on_other_thread = true;
  std::thread([&] { on_other_thread = is_enabled(kCPU); }).join();
  EXPECT_FALSE(on_other_thread);
}

TEST(AutocastMode, WarnsWhenItStaysOff) {
  const Warnings warnings;
  {
    const AutocastMode region(kCPU, kFloat);
    EXPECT_FALSE(is_enabled(kCPU));
    EXPECT_TRUE(Warnings::contains("In CPU autocast, but the target dtype is not supported."));
  }
  EXPECT_EQ(autocast::get_autocast_dtype(kCPU), kBFloat16);
  const AutocastMode region(kCUDA);
  EXPECT_EQ(is_enabled(kCUDA), cuda::is_available());
  EXPECT_EQ(Warnings::contains("CUDA is not available. Disabling autocast."),
            !cuda::is_available());
}

TEST(AutocastMode, RejectsOtherDeviceTypesAndDtypes) {
  EXPECT_ERROR(AutocastMode{kMeta}, "unsupported autocast device_type 'meta'");
  EXPECT_ERROR((AutocastMode{kCPU, kLong, false}), "expected a floating point dtype");
  EXPECT_FALSE(is_enabled(kCPU));
}

TEST(AutocastGradients, HaveTheLeafsDtype) {
  for (const Device device : some_devices()) {
    const Tensor w = weight_on(device), x = input_on(device).requires_grad_();
    Tensor out;
    {
      const AutocastMode region(device.type());
      out = x.mm(w);
      EXPECT_EQ(out.scalar_type(), device.is_cuda() ? kHalf : kBFloat16);
    }
    out.sum().backward();
    EXPECT_EQ(w.grad().scalar_type(), kFloat);
    EXPECT_EQ(x.grad().scalar_type(), kFloat);
    expect_values(w.grad(), {4, 4, 6, 6});
    expect_values(x.grad(), {2, 2, 2, 2});
  }
}

TEST(AutocastGradients, AccumulateForReusedWeights) {
  for (const Device device : some_devices()) {
    const Tensor w = weight_on(device), x = input_on(device);
    const AutocastMode region(device.type());
    // Both passes share one cast; the first must not free what the second needs.
    x.mm(w).sum().backward();
    x.mm(w).sum().backward();
    expect_values(w.grad(), {8, 8, 12, 12});
    (x.mm(w) + x.mm(w)).sum().backward();
    expect_values(w.grad(), {16, 16, 24, 24});
  }
}

TEST(AutocastCache, WeightIsCastOncePerRegion) {
  for (const Device device : some_devices()) {
    const Tensor w = weight_on(device), x = input_on(device);
    Tensor first;
    {
      const AutocastMode region(device.type());
      first = x.mm(w);
      EXPECT_EQ(cast_below(first), cast_below(x.mm(w)));
      {
        const AutocastMode inner(device.type());
        EXPECT_EQ(cast_below(first), cast_below(x.mm(w)));
      }
      // Only the end of the outermost region clears the cache.
      EXPECT_EQ(cast_below(first), cast_below(x.mm(w)));
      const AutocastMode other(device.type(), device.is_cpu() ? kHalf : kBFloat16);
      EXPECT_EQ(x.mm(w).scalar_type(), autocast::get_autocast_dtype(device.type()));
    }
    const AutocastMode again(device.type());
    EXPECT_NE(cast_below(first), cast_below(x.mm(w)));
  }
}

TEST(AutocastCache, CanBeDisabled) {
  const Tensor w = weight_on(kCPU), x = input_on(kCPU);
  const AutocastMode region(kCPU, {}, true, false);
  const Tensor first = x.mm(w);
  EXPECT_NE(cast_below(first), cast_below(x.mm(w)));
}

TEST(AutocastCache, ExcludesResultsViewsAndConstants) {
  const Tensor w = weight_on(kCPU), x = input_on(kCPU);
  const AutocastMode region(kCPU);
  const Tensor scaled = w * 1, transposed = w.t();
  EXPECT_NE(cast_below(x.mm(scaled)), cast_below(x.mm(scaled)));
  EXPECT_NE(cast_below(x.mm(transposed)), cast_below(x.mm(transposed)));
  const size_t use_count = x.use_count();
  x.mm(x);
  EXPECT_EQ(x.use_count(), use_count);
}

TEST(AutocastCache, IsClearedWhenTheRegionEnds) {
  const Tensor w = weight_on(kCPU), x = input_on(kCPU);
  const size_t use_count = w.use_count();
  {
    const AutocastMode region(kCPU);
    x.mm(w);
    EXPECT_GT(w.use_count(), use_count);
    autocast::clear_cache();
    EXPECT_EQ(w.use_count(), use_count);
    x.mm(w);
  }
  EXPECT_EQ(w.use_count(), use_count);
}

TEST(AutocastCache, ModifiedWeightIsCastAgain) {
  for (const Device device : some_devices()) {
    const Tensor w = weight_on(device), x = input_on(device);
    const AutocastMode region(device.type());
    expect_values(x.mm(w), {2, 4, 6, 8});
    {
      const NoGradGuard off;
      w.mul_(2);
    }
    expect_values(x.mm(w), {4, 8, 12, 16});
    w.set_data(eye(2).to(device));
    expect_values(x.mm(w), {1, 2, 3, 4});
  }
}

TEST(AutocastCache, CastsWithoutHistoryAreNotReusedForTraining) {
  for (const bool inference : {false, true}) {
    const Tensor w = weight_on(kCPU), x = input_on(kCPU);
    const AutocastMode region(kCPU);
    if (inference) {
      const InferenceMode mode;
      EXPECT_FALSE(x.mm(w).requires_grad());
    } else {
      const NoGradGuard off;
      EXPECT_FALSE(x.mm(w).requires_grad());
    }
    x.mm(w).sum().backward();
    expect_values(w.grad(), {4, 4, 6, 6});
    const NoGradGuard off;
    EXPECT_FALSE(x.mm(w).requires_grad());
    expect_values(x.mm(w), {2, 4, 6, 8});
  }
}

TEST(AutocastCache, NewWeightAtAReusedAddressIsCastAgain) {
  const Tensor x = input_on(kCPU);
  const AutocastMode region(kCPU);
  for (double value = 1; value < 9; ++value) {
    const Tensor w = full({2, 2}, value).requires_grad_();
    expect_values(x.mm(w), {3 * value, 3 * value, 7 * value, 7 * value});
  }
}

TEST(AutocastCache, LibTorchFunctionsFillItInsideRegionsOnly) {
  const Tensor w = weight_on(kCPU), x = input_on(kCPU);
  const size_t use_count = w.use_count();
  autocast::set_autocast_enabled(kCPU, true);
  x.mm(w);
  EXPECT_EQ(w.use_count(), use_count);  // outside regions nothing would clear the cache
  EXPECT_EQ(autocast::increment_nesting(), 1);
  x.mm(w);
  EXPECT_GT(w.use_count(), use_count);
  EXPECT_EQ(autocast::decrement_nesting(), 0);
  autocast::clear_cache();
  autocast::set_autocast_enabled(kCPU, false);
  EXPECT_EQ(w.use_count(), use_count);
}

TEST(AutocastCache, IsPerStream) {
  if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU";
  const Tensor w = weight_on(Device(kCUDA, 0)), x = input_on(Device(kCUDA, 0));
  const AutocastMode region(kCUDA);
  const Tensor first = x.mm(w);
  const cuda::Stream other;
  other.wait_stream(cuda::current_stream());
  const cuda::StreamGuard guard(other);
  EXPECT_NE(cast_below(first), cast_below(x.mm(w)));
}

}  // namespace
}  // namespace hearth::testing
