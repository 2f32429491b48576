// Activations, dropout, padding, distances and norms: texts and values from LibTorch 2.15.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "tests/compat/texts.h"
#include "tests/support/throws.h"

namespace {

using hearth::testing::printed;
using torch::Tensor;
using namespace torch::nn;
namespace F = torch::nn::functional;

Tensor ramp(std::vector<int64_t> sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return torch::arange(count).to(torch::kFloat).reshape(sizes);
}

void expect_values(const Tensor& got, const std::vector<float>& wanted) {
  EXPECT_TRUE(got.detach().reshape({-1}).allclose(torch::tensor(wanted), 1e-4, 1e-5)) << got;
}

TEST(Layers, PrintActivations) {
  EXPECT_EQ(printed(ReLU6(true)), "ReLU6(inplace=true)");
  EXPECT_EQ(printed(SELU()), "SELU()");
  EXPECT_EQ(printed(CELU(CELUOptions().alpha(0.5).inplace(true))), "CELU(alpha=0.5, inplace=true)");
  EXPECT_EQ(printed(GLU()), "GLU(dim=-1)");
  EXPECT_EQ(printed(Mish()), "Mish()");
  EXPECT_EQ(printed(LogSigmoid()), "LogSigmoid()");
  EXPECT_EQ(printed(Softmin(1)), "Softmin(dim=1)");
  EXPECT_EQ(printed(Softmax2d()), "Softmax2d()");
  EXPECT_EQ(printed(Softsign()), "Softsign()");
  EXPECT_EQ(printed(Tanhshrink()), "Tanhshrink()");
  EXPECT_EQ(printed(Threshold(1.5, 20)), "Threshold(threshold=1.5, value=20)");
  EXPECT_EQ(printed(Threshold(ThresholdOptions(0.1, 20).inplace(true))),
            "Threshold(threshold=0.1, value=20, inplace=true)");
  EXPECT_EQ(printed(Hardshrink()), "Hardshrink(0.5)");
  EXPECT_EQ(printed(Softshrink(0.25)), "Softshrink(0.25)");
  EXPECT_EQ(printed(PReLU(PReLUOptions().num_parameters(3))), "PReLU(num_parameters=3)");
  EXPECT_EQ(printed(RReLU()), "RReLU(lower=0.125, upper=0.333333)");
}

TEST(Layers, PrintOtherModules) {
  EXPECT_EQ(printed(Dropout3d()), "Dropout3d(p=0.5, inplace=false)");
  EXPECT_EQ(printed(FeatureAlphaDropout(0.2)), "FeatureAlphaDropout(p=0.2, inplace=false)");
  EXPECT_EQ(printed(ConstantPad1d(ConstantPad1dOptions(2, 3.5))),
            "ConstantPad1d(padding=[2, 2], value=3.5)");
  EXPECT_EQ(printed(ZeroPad3d(1)), "ZeroPad3d(padding=[1, 1, 1, 1, 1, 1])");
  EXPECT_EQ(printed(ReflectionPad2d(ReflectionPad2dOptions({1, 2, 3, 4}))),
            "ReflectionPad2d(padding=[1, 2, 3, 4])");
  EXPECT_EQ(printed(ReplicationPad1d(2)), "ReplicationPad1d(padding=[2, 2])");
  EXPECT_EQ(printed(CosineSimilarity()), "CosineSimilarity(dim=1, eps=1e-08)");
  EXPECT_EQ(printed(PairwiseDistance()), "PairwiseDistance(p=2, eps=1e-06, keepdim=false)");
  EXPECT_EQ(printed(PixelShuffle(2)), "PixelShuffle(upscale_factor=2)");
  EXPECT_EQ(printed(PixelUnshuffle(3)), "PixelUnshuffle(downscale_factor=3)");
  EXPECT_EQ(printed(BatchNorm3d(3)),
            "BatchNorm3d(3, eps=1e-05, momentum=0.1, affine=true, track_running_stats=true)");
  EXPECT_EQ(printed(InstanceNorm1d(3)),
            "InstanceNorm1d(3, eps=1e-05, momentum=0.1, affine=false, track_running_stats=false)");
  EXPECT_EQ(printed(LocalResponseNorm(2)), "LocalResponseNorm(2, alpha=0.0001, beta=0.75, k=1)");
  EXPECT_EQ(printed(CrossMapLRN2d(CrossMapLRN2dOptions(3).alpha(1e-3).k(2))),
            "CrossMapLRN2d(3, alpha=0.001, beta=0.75, k=2)");
}

TEST(Layers, RefuseBadOptions) {
  EXPECT_ERROR(Hardtanh(HardtanhOptions().min_val(2).max_val(1)),
               "max_val must be greater than min_val");
  EXPECT_ERROR(AlphaDropout(-1.0), "dropout probability has to be between 0 and 1, but got -1");
  EXPECT_ERROR(RReLU(RReLUOptions().lower(2).upper(1))(torch::ones({2})),
               "Lower bound should be less than or equal to the upper bound");
  EXPECT_ERROR(F::softshrink(torch::ones(2), -1.),
               "lambda must be in range [0, 3.40282e+38] for "
               "input dtype Float, but found -1");
  EXPECT_ERROR(PReLU(PReLUOptions().num_parameters(-1)), "negative dimension -1");
}

TEST(Layers, RefuseBadShapes) {
  EXPECT_ERROR(F::glu(torch::ones({})),
               "glu does not support scalars because halving size must be even");
  EXPECT_ERROR(Softmax2d()(torch::ones({2})), "Softmax2d requires a 3D or 4D tensor as input");
  EXPECT_ERROR(PReLU(PReLUOptions().num_parameters(2))(torch::ones({2, 3})),
               "Mismatch of parameter numbers and input channel size");
  EXPECT_ERROR(FeatureAlphaDropout()(torch::ones({3})),
               "Feature dropout requires at least 2 dimensions in the input");
  EXPECT_ERROR(ReflectionPad2d(1)(torch::ones({2})),
               "Padding length should be less than or equal to two times the input dimension but "
               "got padding length 4 and input of dimension 1");
  EXPECT_ERROR(F::pad(torch::ones({2}), F::PadFuncOptions({1, 1}).mode(torch::kReflect)),
               "Padding size 2 is not supported for 1D input tensor.\nSupported combinations for "
               "non-constant padding:\n  - 2D or 3D input: padding size = 2 (pads last dimension)");
  EXPECT_ERROR(
      F::pad(torch::ones({2, 2}), F::PadFuncOptions({1, 1}).mode(torch::kReflect).value(2)),
      "Padding mode \"reflect\" doesn't take in value argument");
  EXPECT_ERROR(InstanceNorm2d(3)(torch::ones({2, 3})), "expected 3D or 4D input (got 2D input)");
  EXPECT_ERROR(BatchNorm3d(3)(torch::ones({2, 3})), "expected 5D input (got 2D input)");
  EXPECT_ERROR(
      F::instance_norm(torch::ones({2, 3, 4}), F::InstanceNormFuncOptions().use_input_stats(false)),
      "Expected running_mean and running_var to be defined when use_input_stats is false");
  EXPECT_ERROR(LocalResponseNorm(2)(torch::ones({2, 3})),
               "Expected 3D or higher dimensionality input (got 2 dimensions)");
  EXPECT_ERROR(LocalResponseNorm(0)(torch::ones({1, 3, 2})),
               "kernel size should be greater than zero, but got kH: 0 kW: 1");
  EXPECT_ERROR(torch::channel_shuffle(torch::ones({1, 3, 2}), 2),
               "Number of channels must be divisible by groups. Got 3 channels and 2 groups.");
}

TEST(Layers, RandomFunctionsDrawLibTorchsNumbers) {
  torch::manual_seed(3);
  expect_values(F::gumbel_softmax(ramp({2, 3})),
                {0.6886363, 0.1922457, 0.119118, 0.3463412, 0.1285688, 0.52509});
  const auto hard = F::GumbelSoftmaxFuncOptions().tau(0.5).hard(true).dim(0);
  expect_values(F::gumbel_softmax(ramp({2, 3}), hard), {0, 0, 0, 1, 1, 1});
  torch::manual_seed(1);
  const auto options = F::RReLUFuncOptions().lower(0.1).upper(0.5).training(true);
  expect_values(F::rrelu(ramp({2, 4}) - 4, options),
                {-0.497685254, -0.569465399, -0.387402028, -0.170839697, 0, 1, 2, 3});
}

TEST(Layers, FunctionsMatchLibTorch) {
  expect_values(F::normalize(ramp({2, 3})), {0, 0.44721, 0.89443, 0.42426, 0.56569, 0.70711});
  Tensor out = torch::empty({2, 3});
  F::normalize(ramp({2, 3}), F::NormalizeFuncOptions().p(1).dim(0).out(out));
  expect_values(out, {0, 0.2, 0.285714, 1, 0.8, 0.714286});
  expect_values(F::local_response_norm(ramp({1, 3, 2}), F::LocalResponseNormFuncOptions(2)),
                {0, 0.99996, 1.99970, 2.99888, 3.99700, 4.99363});
  expect_values(CrossMapLRN2d(4)(ramp({1, 4, 1, 2})),
                {0, 0.99981, 1.99925, 2.99803, 3.99580, 4.99213, 5.99416, 6.99023});
  expect_values(Softmax2d()(ramp({2, 1, 1})), {0.268941, 0.731059});
  expect_values(F::softmin(ramp({2}), F::SoftminFuncOptions(0)), {0.731059, 0.268941});
  expect_values(torch::channel_shuffle(ramp({1, 4, 2}), 2), {0, 1, 4, 5, 2, 3, 6, 7});
  expect_values(F::pad(ramp({1, 3}), F::PadFuncOptions({1, 2}).mode(torch::kCircular)),
                {2, 0, 1, 2, 0, 1});
  expect_values(F::pad(ramp({1, 2}), F::PadFuncOptions({0, 1}).value(7)), {0, 1, 7});
  const auto [value, buffer] = torch::log_sigmoid_forward(ramp({2}));
  expect_values(value, {-0.693147, -0.313262});
  expect_values(buffer, {1, 0.367879});
  const Tensor x = ramp({2, 3}),
               result = F::threshold(x, F::ThresholdFuncOptions(2, 9).inplace(true));
  expect_values(x, {9, 9, 9, 3, 4, 5});
  EXPECT_TRUE(result.is_same(x));
}

TEST(Layers, RunInSequentialAndClone) {
  Sequential model(ZeroPad1d(1), InstanceNorm1d(InstanceNorm1dOptions(2).affine(true)), PReLU(),
                   AlphaDropout(0.5), Threshold(0.1, -1));
  model->eval();
  const Tensor x = ramp({1, 2, 3}).sin();
  const auto copy = std::dynamic_pointer_cast<SequentialImpl>(model->clone());
  EXPECT_TRUE(copy->forward(x).equal(model->forward(x)));
  EXPECT_EQ(model->named_parameters().keys(),
            (std::vector<std::string>{"1.weight", "1.bias", "2.weight"}));
}

}  // namespace
