// Interpolation and sampling as LibTorch 2.15 does them: literal values and texts.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <sstream>

#include "tests/compat/texts.h"

namespace {

using hearth::testing::text_of_error;
using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;
using Sizes = std::vector<int64_t>;
using Factors = std::vector<double>;

Tensor image() { return torch::arange(16, torch::kFloat).view({1, 1, 4, 4}); }

void expect_row(const Tensor& image, int64_t row, const std::vector<double>& wanted) {
  const Tensor values = image.select(0, 0).select(0, 0).select(0, row);
  ASSERT_EQ(values.size(0), int64_t(wanted.size()));
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(values[int64_t(i)].item<double>(), wanted[i], 1e-4) << i;
}

TEST(Upsampling, Interpolate) {
  using Options = F::InterpolateFuncOptions;
  const auto linear =
      Options().scale_factor(Factors{1.3, 1.3}).mode(torch::kBilinear).align_corners(false);
  expect_row(F::interpolate(image(), Options(linear).recompute_scale_factor(false)), 1,
             {2.6154, 3.2692, 4.0385, 4.8077, 5.5769});
  EXPECT_EQ(F::interpolate(image(), Options(linear).recompute_scale_factor(true)).sizes(),
            (Sizes{1, 1, 5, 5}));
  EXPECT_EQ(F::interpolate(image(), Options().size(Sizes{2, 3}).mode(torch::kArea)).sizes(),
            (Sizes{1, 1, 2, 3}));
  EXPECT_EQ(F::interpolate(torch::ones({1, 1, 4, 4, 4}),
                           Options().size(Sizes{2, 3, 1}).mode(torch::kArea))
                .sizes(),
            (Sizes{1, 1, 2, 3, 1}));
  expect_row(F::interpolate(image(), Options().scale_factor(Factors{0.5, 0.49})), 1, {8});
  EXPECT_EQ(F::_interp_output_size(2, {image(), std::nullopt, Factors{0.5, 2}, std::nullopt}),
            (Sizes{2, 8}));
}

TEST(Upsampling, Errors) {
  using Options = F::InterpolateFuncOptions;
  const auto error = [](const Tensor& x, const Options& options) {
    return text_of_error([&] { F::interpolate(x, options); });
  };
  const Tensor x = image();
  const auto expect_contains = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect_contains(error(x, Options()), "either size or scale_factor should be defined");
  expect_contains(error(x, Options().size(Sizes{2, 2}).scale_factor(Factors{2, 2})),
                  "only one of size or scale_factor should be defined");
  expect_contains(
      error(x, Options().scale_factor(Factors{2, 2, 2.5})),
      "scale_factor shape must match input shape. Input is 2D, scale_factor size is [2, 2, 2.5]");
  expect_contains(error(x, Options().size(Sizes{2, 2}).align_corners(false)),
                  "align_corners option can only be set with the interpolating modes");
  expect_contains(
      error(x.select(0, 0).select(0, 0), Options().size(Sizes{2, 2})),
      "Only 3D, 4D and 5D input Tensors supported (got 2D) for the modes: nearest | linear | "
      "bilinear | bicubic | trilinear (got kNearest)");
  expect_contains(
      error(x.select(0, 0), Options().size(Sizes{2}).mode(torch::kBicubic).align_corners(false)),
      "supported (got 3D) for the modes: nearest | linear | bilinear | bicubic | trilinear (got "
      "kBicubic)");
  expect_contains(error(x, Options().size(Sizes{2}).mode(torch::kLinear).align_corners(false)),
                  "Got 4D input, but linear mode needs 3D input");
  expect_contains(error(x, Options().size(Sizes{2, 2}).antialias(true)),
                  "Anti-alias option is only supported for bilinear and bicubic modes");
  expect_contains(error(x, Options().size(Sizes{2}).mode(torch::kArea)),
                  "Expected 2 values, but instead got 1");
  expect_contains(error(x, Options().scale_factor(Factors{0.1, 2})),
                  "but got input (H: 4, W: 4) output (H: 0, W: 8)");
}

TEST(Upsampling, Modules) {
  nn::Upsample up(nn::UpsampleOptions()
                      .scale_factor(Factors{2.5, 3})
                      .mode(torch::kBilinear)
                      .align_corners(true));
  EXPECT_EQ(up(image()).sizes(), (Sizes{1, 1, 10, 12}));
  std::ostringstream text;
  text << up << nn::Upsample(nn::UpsampleOptions().size(Sizes{2, 3}));
  EXPECT_NE(text.str().find("Upsample(scale_factor=[2.5, 3], mode=kBilinear)"), std::string::npos);
  EXPECT_NE(text.str().find("Upsample(size=[2, 3], mode=kNearest)"), std::string::npos);
  nn::Sequential net(nn::Upsample(nn::UpsampleOptions().scale_factor(Factors{2, 2})));
  EXPECT_EQ(net->forward(image()).sizes(), (Sizes{1, 1, 8, 8}));
}

TEST(Upsampling, Operators) {
  const Tensor x = image();
  const Factors factors{2, 2};
  EXPECT_EQ(torch::upsample_nearest1d(x[0], 8).sizes(), (Sizes{1, 4, 8}));
  expect_row(torch::upsample_nearest2d(x, {8, 8}), 3, {4, 4, 5, 5, 6, 6, 7, 7});
  EXPECT_TRUE(torch::upsample_nearest2d(x, std::nullopt, at::ArrayRef<double>(factors))
                  .equal(torch::upsample_nearest2d(x, {8, 8}, 2.0, 2.0)));
  EXPECT_TRUE(torch::upsample_bilinear2d(x, std::nullopt, true, at::ArrayRef<double>(factors))
                  .equal(torch::upsample_bilinear2d(x, {8, 8}, true)));
  Tensor out = torch::empty({0});
  at::upsample_bicubic2d_out(out, x, {2, 3}, false);
  expect_row(out, 0, {1.7512, 3.125, 4.4988});
}

TEST(Vision, GridsAndSamples) {
  const Tensor theta =
      torch::tensor({0.5, 0.0, 0.1, 0.0, -1.0, 0.0}).to(torch::kFloat).view({1, 2, 3});
  const Tensor grid = F::affine_grid(theta, {1, 1, 2, 3});
  EXPECT_EQ(grid.sizes(), (Sizes{1, 2, 3, 2}));
  EXPECT_NEAR(grid[0][0][0][0].item<double>(), 0.5 * -2 / 3 + 0.1, 1e-6);
  EXPECT_NEAR(grid[0][0][0][1].item<double>(), 0.5, 1e-6);
  using Options = F::GridSampleFuncOptions;
  expect_row(F::grid_sample(image(), grid, Options().align_corners(false)), 0,
             {11.0333, 11.7, 12.3667});
  expect_row(
      F::grid_sample(
          image(), grid * 3,
          Options().mode(torch::kNearest).padding_mode(torch::kReflection).align_corners(true)),
      0, {8, 10, 11});
  EXPECT_NE(text_of_error([] {
              F::affine_grid(torch::ones({1, 2, 3}), {1, 1, 2});
            })
                .find("affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
                      "respectively. Got size [1, 1, 2]"),
            std::string::npos);
  EXPECT_NE(text_of_error([] {
              F::affine_grid(torch::ones({1, 2, 3}, torch::kInt), {1, 1, 2, 2});
            }).find("Expected theta to have floating point type, but got int"),
            std::string::npos);
  EXPECT_NE(
      text_of_error([] {
        F::affine_grid(torch::ones({2, 3}), {1, 1, 2, 2});
      })
          .find("Expected a batch of 2D affine matrices of shape Nx2x3 for size [1, 1, 2, 2]. "
                "Got [2, 3]."),
      std::string::npos);
  EXPECT_NE(text_of_error([] {
              F::affine_grid(torch::ones({1, 2, 3}), {1, 1, 2, -1});
            }).find("Expected non-zero, positive output size. Got [1, 1, 2, -1]"),
            std::string::npos);
}

}  // namespace
