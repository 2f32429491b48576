// The operators of gradient scaling.
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

}  // namespace
