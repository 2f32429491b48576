// The operators of gradient scaling, and autocast's deprecated functions.
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <limits>

namespace {

TEST(Amp, UnscalesAndChecks) {
  const std::vector<torch::Tensor> gradients{torch::full({3}, 8.0), torch::full({2, 2}, -2.0)};
  torch::Tensor found = torch::zeros({});
  torch::_amp_foreach_non_finite_check_and_unscale_(gradients, found, torch::full({}, 0.25));
  EXPECT_EQ(gradients[0][0].item<float>(), 2);
  EXPECT_EQ(gradients[1].sum().item<float>(), -2);
  EXPECT_EQ(found.item<float>(), 0);
  gradients[1][1][0] = std::numeric_limits<double>::infinity();
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, found, torch::ones({}));
  EXPECT_EQ(found.item<float>(), 1);
  EXPECT_THROW(torch::_amp_foreach_non_finite_check_and_unscale_({torch::ones({1}, torch::kLong)},
                                                                 found, torch::ones({})),
               std::exception);
}

TEST(Amp, UpdatesTheScale) {
  torch::Tensor scale = torch::full({}, 1024.0), tracker = torch::zeros({}, torch::kInt);
  for (const float found : {0.f, 0.f, 1.f, 0.f}) {
    torch::Tensor& same =
        torch::_amp_update_scale_(scale, tracker, torch::full({}, found), 2.0, 0.25, 2);
    EXPECT_TRUE(same.is_same(scale));
  }
  EXPECT_EQ(scale.item<float>(), 512);
  EXPECT_EQ(tracker.item<int>(), 1);
}

TEST(Amp, DeprecatedFunctionsNameTheDevice) {
  const auto product = [] { return torch::mm(torch::ones({2, 2}), torch::ones({2, 2})); };
  EXPECT_FALSE(at::autocast::is_cpu_enabled());
  at::autocast::set_cpu_enabled(true);
  EXPECT_TRUE(at::autocast::is_autocast_enabled(at::kCPU));
  at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
  EXPECT_EQ(at::autocast::get_autocast_cpu_dtype(), at::kBFloat16);
  EXPECT_EQ(product().scalar_type(), at::kBFloat16);
  at::autocast::clear_cache();
  at::autocast::set_cpu_enabled(false);
  EXPECT_EQ(product().scalar_type(), at::kFloat);
  EXPECT_FALSE(at::autocast::is_enabled());
  at::autocast::set_enabled(true);
  EXPECT_TRUE(at::autocast::is_autocast_enabled(at::kCUDA));
  at::autocast::set_enabled(false);
  EXPECT_EQ(at::autocast::get_autocast_gpu_dtype(), at::kHalf);
  at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
  EXPECT_EQ(at::autocast::get_autocast_dtype(at::kCUDA), at::kBFloat16);
  at::autocast::set_autocast_gpu_dtype(at::kHalf);
}

}  // namespace
