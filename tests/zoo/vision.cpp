// Vision models: torchvision's names, outputs (tests/oracle/zoo.py) and initial weights, checks of
// sizes, clones and gradients.
#include <gtest/gtest.h>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "tests/zoo/expected.h"
#include "tests/zoo/models.h"

namespace hearth::testing {

namespace {

using namespace hearth::vision::models;

TEST(VisionModels, NamesAndOutputsMatchTorchvision) { for_each_vision_model(expect_model); }

/// Expected: sums of weights of torchvision.models.alexnet(num_classes=7) after
/// torch.manual_seed(7).
TEST(VisionModels, InitialWeightsMatchTorchvision) {
  manual_seed(7);
  const auto state = AlexNet(7)->state_dict();
  const auto sum = [&](const char* name) { return state[name].sum(kDouble).item<double>(); };
  EXPECT_NEAR(sum("features.0.weight"), -0.773535, 1e-3);
  EXPECT_NEAR(sum("features.3.weight"), 5.96528, 1e-3);
  EXPECT_NEAR(sum("classifier.6.weight"), -2.54784, 1e-3);
}

/// The published state dicts of torchvision's vision transformers have older names.
TEST(VisionModels, LoadsOldNamesOfVisionTransformers) {
  const VisionTransformerOptions options(32, 16, 1, 2, 8, 12);
  VisionTransformer model(options), loaded_model(options);
  OrderedDict<std::string, Tensor> state;
  for (const auto& item : model->state_dict()) {
    std::string name = item.key();
    for (const auto& [new_name, old_name] :
         {std::pair{".mlp.0", ".mlp.linear_1"}, std::pair{".mlp.3", ".mlp.linear_2"}})
      if (const size_t start = name.find(new_name); start != std::string::npos)
        name.replace(start, std::string_view(new_name).size(), old_name);
    state.insert(name, item.value());
  }
  ASSERT_TRUE(state.contains("encoder.layers.encoder_layer_0.mlp.linear_2.bias"));
  loaded_model->load_state_dict(state);
  const auto expect_equal = [&](const VisionTransformerImpl& loaded) {
    for (const auto& item : loaded.state_dict())
      EXPECT_TRUE(item->equal(model->state_dict()[item.key()])) << item.key();
  };
  expect_equal(*loaded_model);
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

TEST(VisionModels, CloneSharesNoParameters) {
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
