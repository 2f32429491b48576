// LibTorch's names of streams and guards. LibTorch's own headers for these need a CUDA toolkit.
#if __has_include("hearth/cuda.h")
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

}  // namespace
#endif
