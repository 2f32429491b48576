// LibTorch's names of streams, guards, and functions of devices and of the caching allocator.
// LibTorch's own headers for these need a CUDA toolkit, so with LibTorch this file is empty.
#if __has_include("hearth/cuda.h")
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace {

TEST(CudaGuards, HaveLibTorchNames) {
  if (torch::cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  const auto stream = c10::cuda::getStreamFromPool(false, 1);
  {
    const c10::cuda::CUDAGuard device(1);
    EXPECT_EQ(c10::cuda::current_device(), 1);
    const at::cuda::CUDAStreamGuard current(stream);
    EXPECT_EQ(c10::cuda::getCurrentCUDAStream(), stream);
    torch::ones({2}, torch::kCUDA).record_stream(c10::cuda::getDefaultCUDAStream());
  }
  const c10::DeviceGuard device(torch::Device("cuda:1"));
  EXPECT_EQ(c10::cuda::current_device(), 1);
}

TEST(CudaEvents, HaveLibTorchNames) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "needs a GPU";
  at::cuda::CUDAEvent start(0), end(0);
  EXPECT_FALSE(start.isCreated());
  EXPECT_TRUE(start.query());
  start.record();
  const auto x = torch::ones({16}, torch::kCUDA) * 2;
  const auto stream = c10::cuda::getStreamFromPool();
  end.record(c10::cuda::getCurrentCUDAStream());
  end.block(stream);
  end.synchronize();
  EXPECT_TRUE(end.isCreated() && end.query());
  EXPECT_GE(start.elapsed_time(end), 0);
}

TEST(CudaFunctions, HaveLibTorchNames) {
  EXPECT_EQ(at::cuda::getNumGPUs(), torch::cuda::device_count());
  if (!torch::cuda::is_available()) {
    EXPECT_THROW(c10::cuda::device_count_ensure_non_zero(), c10::Error);
    GTEST_SKIP() << "needs a GPU";
  }
  EXPECT_EQ(c10::cuda::device_count_ensure_non_zero(), torch::cuda::device_count());
  const c10::DeviceIndex last = c10::cuda::device_count() - 1;
  EXPECT_EQ(c10::cuda::ExchangeDevice(last), 0);
  EXPECT_EQ(c10::cuda::ExchangeDevice(0), last);
  {
    const auto large = torch::ones({1 << 20}, torch::kCUDA);
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(0);
    const auto all = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    EXPECT_GE(stats.allocated_bytes[all].current, 4 << 20);
    EXPECT_GE(stats.reserved_bytes[all].peak, stats.allocated_bytes[all].current);
  }
  c10::cuda::device_synchronize();
  c10::cuda::CUDACachingAllocator::emptyCache();
  c10::cuda::CUDACachingAllocator::resetPeakStats(0);
  EXPECT_EQ(hearth::cuda::max_memory_reserved(0), hearth::cuda::memory_reserved(0));
  c10::cuda::CUDACachingAllocator::setMemoryFraction(0.5, 0);
  EXPECT_DOUBLE_EQ(c10::cuda::CUDACachingAllocator::getMemoryFraction(0), 0.5);
  c10::cuda::CUDACachingAllocator::setMemoryFraction(1, 0);
}

}  // namespace
#endif
