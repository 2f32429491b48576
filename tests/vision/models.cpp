// Models against torchvision's names and outputs (tests/oracle/vision_models.py).
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/vision/models.h"

namespace hearth::testing {

namespace {

using namespace hearth::vision::models;

/// A model of torchvision: its state's names with sizes, and its output.
struct Expected {
  std::vector<std::string> state;
  std::vector<double> output;
};

std::map<std::string, Expected> read_expected() {
  std::ifstream file(HEARTH_TEST_FIXTURES "/vision_models.txt");
  std::map<std::string, Expected> result;
  std::string model;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "model")
      words >> model;
    else if (word != "output")
      result[model].state.push_back(line);
    else
      for (double value; words >> value;) result[model].output.push_back(value);
  }
  return result;
}

/// The values that fill() of the script gives to tensor k.
void fill(const std::string& name, Tensor tensor, int64_t k) {
  if (tensor.dim() == 0) return;
  const Tensor wave = arange(tensor.numel(), kDouble).mul(0.37).add(k).sin().view(tensor.sizes());
  if (tensor.dim() > 1)
    tensor.copy_(wave.mul(2 / std::sqrt(double(tensor.numel()) / double(tensor.size(0)))));
  else
    tensor.copy_(wave.mul(0.1).add(name.ends_with("weight") || name.ends_with("running_var")));
}

template <class Model>
void expect_torchvisions(const char* name, Model model, const Expected& expected) {
  SCOPED_TRACE(name);
  const NoGradGuard no_grad;
  model->eval();
  std::vector<std::string> state;
  int64_t k = 0;
  for (const auto& item : model->state_dict()) {
    std::string line = item.key();
    for (const int64_t size : item.value().sizes()) line += " " + std::to_string(size);
    state.push_back(line);
    fill(item.key(), item.value(), k++);
  }
  EXPECT_EQ(state, expected.state);
  const Tensor image = arange(3 * 64 * 64).mul(0.11).sin().view({1, 3, 64, 64});
  const Tensor output = model->forward(image).flatten();
  ASSERT_EQ(output.numel(), int64_t(expected.output.size()));
  for (size_t i = 0; i < expected.output.size(); ++i)
    EXPECT_NEAR(output[int64_t(i)].template item<double>(), expected.output[i],
                1e-4 * (1 + std::fabs(expected.output[i])));
}

TEST(VisionModels, NamesAndOutputsAreTorchvisions) {
  const auto expected = read_expected();
  ASSERT_EQ(expected.size(), 7u);
  const auto check = [&](const char* name, auto model) {
    expect_torchvisions(name, model, expected.at(name));
  };
  check("resnet_basic", ResNet(ResNetOptions({1, 2, 1, 1}).num_classes(5)));
  check("resnet_bottleneck", ResNet(ResNetOptions({1, 1, 2, 1})
                                        .bottleneck(true)
                                        .num_classes(5)
                                        .groups(2)
                                        .width_per_group(32)));
  check("vgg", VGG(VGGOptions({4, 0, 8, 0}).num_classes(5)));
  check("vgg_bn", VGG(VGGOptions({4, 0, 8, 0}).batch_norm(true).num_classes(5)));
  check("alexnet", AlexNet(5));
  check("mobilenet_v2", MobileNetV2(5, 0.25));
  check("vit",
        VisionTransformer(
            VisionTransformerOptions(64, 16, 2, 2, 8, 12).num_classes(5).representation_size(6)));
}

/// The published state dicts of torchvision's vision transformers have older names.
TEST(VisionModels, LoadsOldNamesOfVisionTransformers) {
  const VisionTransformerOptions options(32, 16, 1, 2, 8, 12);
  VisionTransformer model(options), other(options);
  OrderedDict<std::string, Tensor> state;
  for (const auto& item : model->state_dict()) {
    std::string name = item.key();
    for (const auto& [now, before] :
         {std::pair{".mlp.0", ".mlp.linear_1"}, std::pair{".mlp.3", ".mlp.linear_2"}})
      if (const size_t at = name.find(now); at != std::string::npos) name.replace(at, 6, before);
    state.insert(name, item.value());
  }
  ASSERT_TRUE(state.contains("encoder.layers.encoder_layer_0.mlp.linear_2.bias"));
  other->load_state_dict(state);
  const auto expect_equal = [&](const VisionTransformerImpl& loaded) {
    for (const auto& item : loaded.state_dict())
      EXPECT_TRUE(item->equal(model->state_dict()[item.key()])) << item.key();
  };
  expect_equal(*other);
  const auto copy =
      std::dynamic_pointer_cast<VisionTransformerImpl>(VisionTransformer(options)->clone());
  copy->load_state_dict(state);
  expect_equal(*copy);
}

TEST(VisionModels, VisionTransformersCheckSizes) {
  EXPECT_THROW(VisionTransformer(VisionTransformerOptions(30, 16, 1, 2, 8, 12)), Error);
  VisionTransformer model(VisionTransformerOptions(32, 16, 1, 2, 8, 12));
  EXPECT_THROW(model->forward(rand({1, 3, 32, 48})), Error);
  EXPECT_THROW(model->forward(rand({3, 32, 32})), Error);
}

TEST(VisionModels, CloneSharesNothing) {
  ResNet model(ResNetOptions({1, 1, 1, 1}).num_classes(3));
  const auto copy = std::dynamic_pointer_cast<ResNetImpl>(model->clone());
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->parameters().size(), model->parameters().size());
  for (size_t i = 0; i < copy->parameters().size(); ++i) {
    EXPECT_TRUE(copy->parameters()[i].equal(model->parameters()[i]));
    EXPECT_NE(copy->parameters()[i].data_ptr(), model->parameters()[i].data_ptr());
  }
}

TEST(VisionModels, EveryParameterGetsAGradient) {
  MobileNetV2 model(4, 0.25);
  model->forward(rand({2, 3, 32, 32})).square().sum().backward();
  for (const auto& item : model->named_parameters())
    EXPECT_TRUE(item.value().grad().defined()) << item.key();
}

}  // namespace

}  // namespace hearth::testing
