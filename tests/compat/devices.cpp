// Types of devices that this machine has no library for. The texts are PyTorch's.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <string>

#include "tests/compat/texts.h"

namespace {

using hearth::testing::text_of_error;

TEST(Devices, EachTypeOfPyTorchHasAName) {
  torch::Device device = torch::kCPU;
  if (torch::mps::is_available()) device = torch::Device(torch::kMPS);
  EXPECT_FALSE(device.is_mps() || device.is_xpu() || device.is_hip());
  EXPECT_FALSE(torch::ones({1}).is_mps() || torch::ones({1}).is_xpu());
  EXPECT_TRUE(torch::Device("mps").is_mps());
  EXPECT_EQ(torch::Device("xpu:2"), torch::Device(torch::kXPU, 2));
  EXPECT_EQ(torch::Device(at::kMPS, 1).str(), "mps:1");
  EXPECT_EQ(c10::str(torch::kHIP, torch::kXLA, torch::kVulkan, torch::kMetal, torch::kHPU),
            "hipxlavulkanmetalhpu");
  EXPECT_EQ(c10::str(c10::DeviceType::Lazy, torch::kIPU, torch::kMTIA, torch::kMAIA, torch::kVE),
            "lazyipumtiamaiave");
  EXPECT_EQ(c10::DeviceTypeName(torch::kLazy), "LAZY");
  EXPECT_EQ(c10::DeviceTypeName(torch::kMPS), "MPS");
  EXPECT_EQ(c10::DeviceTypeName(torch::kFPGA, true), "fpga");
  EXPECT_TRUE(c10::isValidDeviceType(torch::kPrivateUse1));
  EXPECT_EQ(static_cast<int>(torch::kMeta), 14);
  EXPECT_EQ(static_cast<int>(torch::kPrivateUse1), 20);
}

TEST(Devices, UnknownNamesAreRefused) {
  const std::string list =
      "Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, "
      "xla, lazy, vulkan, mps, meta, hpu, mtia, privateuseone device type at start of device "
      "string: ";
  EXPECT_EQ(text_of_error([] { torch::Device("metal"); }), list + "metal");
  EXPECT_EQ(text_of_error([] { torch::Device("gpu:0"); }), list + "gpu");
  EXPECT_EQ(text_of_error([] { torch::Device("mps:x"); }), "Invalid device string: 'mps:x'");
}

TEST(Devices, TensorsCannotBeThere) {
  const auto x = torch::ones({1});
  const std::string text = "PyTorch is not linked with support for mps devices";
  EXPECT_EQ(text_of_error([&] { x.to(torch::kMPS); }).substr(0, text.size()), text);
  for (const auto type : {torch::kMPS, torch::kHIP, torch::kVulkan}) {
    EXPECT_THROW(x.to(type), c10::Error);
    EXPECT_THROW(torch::empty({1}, type), c10::Error);
    EXPECT_THROW(torch::nn::Linear(1, 1)->to(type), c10::Error);
  }
}

TEST(Devices, GuardsTakeATensorsDevice) {
  const auto x = torch::ones({1});
  EXPECT_EQ(device_of(x), torch::Device(torch::kCPU));
  EXPECT_FALSE(device_of(torch::Tensor()).has_value());
  const at::OptionalDeviceGuard guard(device_of(x));
  EXPECT_EQ(x.device(), torch::kCPU);
}

}  // namespace
