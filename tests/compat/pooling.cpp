// Pools, folds and convolutions of all dimensions with LibTorch's API.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/compat/texts.h"

namespace {

namespace F = torch::nn::functional;
using hearth::testing::printed;
using hearth::testing::text_of_error;
using namespace torch::nn;

TEST(Pooling, Printing) {
  EXPECT_EQ(printed(MaxPool1d(2)),
            "MaxPool1d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=false)");
  EXPECT_EQ(printed(MaxPool3d(MaxPool3dOptions(2).stride({1, 2, 3}))),
            "MaxPool3d(kernel_size=[2, 2, 2], stride=[1, 2, 3], padding=[0, 0, 0], dilation=[1, 1, "
            "1], ceil_mode=false)");
  EXPECT_EQ(printed(AvgPool1d(3)), "AvgPool1d(kernel_size=3, stride=3, padding=0)");
  EXPECT_EQ(printed(AdaptiveAvgPool1d(3)), "AdaptiveAvgPool1d(output_size=3)");
  EXPECT_EQ(printed(AdaptiveMaxPool3d(AdaptiveMaxPool3dOptions({1, std::nullopt, 3}))),
            "AdaptiveMaxPool3d(output_size=[1, None, 3])");
  EXPECT_EQ(printed(LPPool2d(LPPool2dOptions(1.5, {2, 3}).ceil_mode(true))),
            "LPPool2d(norm_type=1.5, kernel_size=[2, 3], stride=[2, 3], ceil_mode=true)");
  EXPECT_EQ(printed(MaxUnpool1d(3)), "MaxUnpool1d(kernel_size=3, stride=3, padding=0)");
  EXPECT_EQ(printed(FractionalMaxPool2d(FractionalMaxPool2dOptions(2).output_size(3))),
            "FractionalMaxPool2d()");
  EXPECT_EQ(printed(Fold(FoldOptions({4, 5}, 2))),
            "Fold(output_size=[4, 5], kernel_size=[2, 2], dilation=[1, 1], padding=[0, 0], "
            "stride=[1, 1])");
  EXPECT_EQ(printed(Unfold(2)),
            "Unfold(kernel_size=[2, 2], dilation=[1, 1], padding=[0, 0], stride=[1, 1])");
  EXPECT_EQ(printed(Conv3d(1, 2, 3)), "Conv3d(1, 2, kernel_size=[3, 3, 3], stride=[1, 1, 1])");
  EXPECT_EQ(printed(ConvTranspose3d(ConvTranspose3dOptions(1, 2, 3).output_padding(1).stride(2))),
            "ConvTranspose3d(1, 2, kernel_size=[3, 3, 3], stride=[2, 2, 2], output_padding=[1, 1, "
            "1])");
}

TEST(Pooling, Errors) {
  const auto x = torch::rand({1, 4, 4, 5}), indices = torch::zeros({1, 4, 4, 5}, torch::kLong);
  ConvTranspose2d conv(ConvTranspose2dOptions(4, 2, 3).stride(2).padding(1));
  const auto error_for_size = [&](std::vector<int64_t> size) {
    return text_of_error([&] { conv(x, torch::IntArrayRef(size)); });
  };
  EXPECT_EQ(error_for_size({20, 9}).find(
                "requested an output size of [20, 9], but valid sizes range from 7 "
                "9 to 8 10 (for an input of [4, 5])"),
            0);
  EXPECT_EQ(error_for_size({20}).find("output_size must have 2 or 4 elements (got 1)"), 0);
  EXPECT_EQ(error_for_size({1, 2, 8, 9}), "no error");
  EXPECT_EQ(
      text_of_error([&] {
        F::max_unpool2d(x, indices, F::MaxUnpool2dFuncOptions(2).output_size({{1, 4, 50, 60}}));
      }).find("invalid output_size 50 60 (dim 0 must be between 6 and 10)"),
      0);
  EXPECT_EQ(text_of_error([] { FractionalMaxPool2d m(2); })
                .find("FractionalMaxPool2d requires specifying either an output size, or a pooling "
                      "ratio"),
            0);
  EXPECT_EQ(text_of_error([] {
              FractionalMaxPool3d m(FractionalMaxPool3dOptions(2).output_size(2).output_ratio(0.5));
            }).find("only one of output_size and output_ratio may be specified"),
            0);
  EXPECT_EQ(text_of_error([] {
              FractionalMaxPool2d m(FractionalMaxPool2dOptions(2).output_ratio(
                  torch::ExpandingArray<2, double>({0.5, 1.5})));
            }).find("output_ratio must be between 0 and 1 (got [0.5, 1.5])"),
            0);
  EXPECT_EQ(text_of_error([] { F::fold(torch::rand({3}), F::FoldFuncOptions(2, 2)); })
                .find("Input Error: Only unbatched (2D) or batched (3D) input Tensors are "
                      "supported (got 1D)"),
            0);
  EXPECT_EQ(text_of_error([] {
              F::adaptive_avg_pool3d(torch::rand({3, 3}), F::AdaptiveAvgPool3dFuncOptions(2));
            }).find("Input dimension should be at least 4"),
            0);
}

TEST(Pooling, ModulesMatchFunctions) {
  torch::manual_seed(1);
  const auto x = torch::randn({2, 3, 6, 6, 6});
  const auto [values, indices] = F::max_pool3d_with_indices(x, F::MaxPool3dFuncOptions(2));
  EXPECT_TRUE(values.equal(MaxPool3d(2)(x)));
  const auto back = MaxUnpool3d(2)(values, indices);
  EXPECT_EQ(back.sizes(), x.sizes());
  EXPECT_TRUE(F::max_pool3d(back.relu(), F::MaxPool3dFuncOptions(2)).equal(values.relu()));
  EXPECT_TRUE(F::adaptive_avg_pool3d(x, F::AdaptiveAvgPool3dFuncOptions(3))
                  .allclose(AvgPool3d(2)(x), 1e-4, 1e-5));
  EXPECT_TRUE(LPPool3d(1, 2)(x.abs()).allclose(AvgPool3d(2)(x.abs()) * 8, 1e-4, 1e-5));
  const auto image = x.select(2, 0);
  const auto columns = Unfold(UnfoldOptions(2).stride(2))(image);
  EXPECT_EQ(columns.sizes(), (std::vector<int64_t>{2, 12, 9}));
  EXPECT_TRUE(Fold(FoldOptions(6, 2).stride(2))(columns).equal(image));
  const auto options = FractionalMaxPool2dOptions(2).output_ratio(0.5);
  EXPECT_EQ(FractionalMaxPool2d(options)->forward(image).sizes(),
            (std::vector<int64_t>{2, 3, 3, 3}));
  EXPECT_EQ(
      torch::conv_tbc(torch::rand({5, 2, 3}), torch::rand({2, 3, 4}), torch::rand({4}), 1).sizes(),
      (std::vector<int64_t>{6, 2, 4}));
}

TEST(Pooling, ContainersPassDefaultArguments) {
  Sequential net(ConvTranspose1d(3, 2, 2), AvgPool1d(2), Conv1d(2, 2, 1), AdaptiveMaxPool1d(2));
  EXPECT_EQ(net->forward(torch::rand({1, 3, 5})).sizes(), (std::vector<int64_t>{1, 2, 2}));
  AnyModule unpool(MaxUnpool2d(2));
  const auto x = torch::rand({1, 1, 2, 2});
  const auto indices = torch::tensor({{0L, 2L}, {8L, 10L}}).reshape({1, 1, 2, 2});
  EXPECT_EQ(unpool.forward(x, indices).sizes(), (std::vector<int64_t>{1, 1, 4, 4}));
}

}  // namespace
