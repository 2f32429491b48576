// nn::summary: sizes, parameters and multiply-adds by layer.
#include "hearth/nn/summary.h"

#include <gtest/gtest.h>

#include <sstream>

#include "hearth/hearth.h"

namespace hearth::testing {
namespace {

/// The multiply-adds of one module.
template <class Model, class... Inputs>
int64_t multiply_adds_of(Model model, const Inputs&... inputs) {
  return nn::summary(model, inputs...).multiply_adds;
}

TEST(Summary, ListsLayers) {
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(1, 6, 5)), nn::ReLU(), nn::Flatten(),
                     nn::Sequential(nn::Linear(3456, 10)));
  net->parameters()[1].requires_grad_(false);
  std::ostringstream printed;
  printed << nn::summary(net, ones({2, 1, 28, 28}));
  EXPECT_EQ(printed.str(),
            "layer             output          parameters  multiply-adds  output bytes\n"
            "Sequential        [2, 10]                  0              0            80\n"
            "  Conv2d (0)      [2, 6, 24, 24]         156        172,800        27,648\n"
            "  ReLU (1)        [2, 6, 24, 24]           0              0        27,648\n"
            "  Flatten (2)     [2, 3456]                0              0        27,648\n"
            "  Sequential (3)  [2, 10]                  0              0            80\n"
            "    Linear (0)    [2, 10]             34,570         69,120            80\n"
            "parameters: 34,726 (34,720 trainable, 138,904 bytes); multiply-adds: 241,920\n");
}

TEST(Summary, CountsMultiplyAdds) {
  EXPECT_EQ(multiply_adds_of(nn::Linear(3, 4), ones({5, 3})), 5 * 3 * 4);
  EXPECT_EQ(multiply_adds_of(nn::Conv1d(2, 3, 3), ones({1, 2, 9})), 7 * 3 * 2 * 3);
  EXPECT_EQ(multiply_adds_of(nn::Conv2d(nn::Conv2dOptions(4, 4, 3).groups(2)), ones({1, 4, 9, 9})),
            7 * 7 * 4 * 2 * 9);
  EXPECT_EQ(multiply_adds_of(nn::ConvTranspose2d(2, 3, 3), ones({1, 2, 9, 9})), 9 * 9 * 2 * 3 * 9);
  EXPECT_EQ(multiply_adds_of(nn::LSTM(2, 3), ones({4, 1, 2})), 4 * 12 * (2 + 3));
  EXPECT_EQ(multiply_adds_of(nn::GRUCell(2, 3), ones({5, 2})), 5 * 9 * (2 + 3));
  EXPECT_EQ(multiply_adds_of(nn::Bilinear(3, 4, 5), ones({2, 3}), ones({2, 4})), 2 * 5 * 3 * 4);
  const Tensor x = ones({5, 1, 8});
  EXPECT_EQ(multiply_adds_of(nn::MultiheadAttention(8, 2), x, x, x),
            5 * 8 * 24 + 2 * 25 * 8 + 5 * 8 * 8);
}

struct ProductsImpl : nn::Module {
  Tensor forward(const Tensor& a, const Tensor& b) {
    const Tensor sum = addbmm(zeros({3, 5}), a, b);         // 7 * 3 * 4 * 5
    const Tensor kernel = ones({2, 5, 6});                  // width, in, out
    return conv_tbc(sum.unsqueeze(1), kernel, zeros({6}));  // 2 * 1 * 6 * 2 * 5
  }
};
HEARTH_MODULE(Products);

TEST(Summary, CountsAddbmmAndConvTbc) {
  EXPECT_EQ(multiply_adds_of(Products(), ones({7, 3, 4}), ones({7, 4, 5})),
            7 * 3 * 4 * 5 + 2 * 6 * 2 * 5);
}

TEST(Summary, CountsSharedParametersOnce) {
  nn::Linear linear(2, 2);
  nn::Sequential net(linear, linear);
  const auto summary = nn::summary(net, ones({1, 2}));
  EXPECT_EQ(summary.parameters, 6);
  EXPECT_EQ(summary.multiply_adds, 8);
}

}  // namespace
}  // namespace hearth::testing
