// hearth train --checkpoint-activations: the same results with less memory.
#include <gtest/gtest.h>

#include "apps/hearth/train/checkpointed.h"
#include "apps/hearth/train/models.h"
#include "hearth/hearth.h"
#include "hearth/profiler.h"
#include "hearth/vision/models.h"
#include "tests/cli/train_support.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

namespace models = vision::models;

/// The gradients and buffers after a training step with their names, and how often the step called
/// an op.
struct Step {
  std::vector<Tensor> tensors;
  std::vector<std::string> names;
  int64_t calls = 0;
};

Step step_of(nn::AnyModule model, const Tensor& images, const std::string& op) {
  Step step;
  manual_seed(1);
  profiler::profile recorded;
  model.forward(images).square().sum().backward();
  recorded.stop();
  step.calls = recorded.key_averages().at(op).count;
  for (const auto& item : model.ptr()->named_parameters()) {
    step.names.push_back(item.key());
    step.tensors.push_back(item.value().grad());
  }
  for (const auto& item : model.ptr()->named_buffers()) {
    step.names.push_back(item.key());
    step.tensors.push_back(item.value().clone());
  }
  return step;
}

/// Expects that checkpointed blocks change nothing but the number of calls of an op in a step.
template <class Holder>
void expect_same_step(const Holder& net, const Tensor& images, const std::string& op,
                      int64_t more_calls) {
  nn::AnyModule plain(net), other = plain.clone();
  app::checkpoint_blocks(*other.ptr());
  const Step expected = step_of(plain, images, op), step = step_of(other, images, op);
  EXPECT_EQ(step.names, expected.names);
  ASSERT_EQ(step.tensors.size(), expected.tensors.size());
  for (size_t i = 0; i < step.tensors.size(); ++i)
    EXPECT_TRUE(step.tensors[i].equal(expected.tensors[i])) << step.names[i];
  EXPECT_EQ(step.calls, expected.calls + more_calls);
}

TEST(TrainCheckpointed, BlocksOfEachNetworkAreCalledAgain) {
  const Tensor images = randn({2, 3, 64, 64});
  expect_same_step(models::ResNet(models::ResNetOptions({1, 2, 1, 1}).num_classes(3)), images,
                   "aten::convolution", 2 * 5 + 3);  // two in a block, three projections
  expect_same_step(models::MobileNetV2(3, 0.35), images, "aten::convolution", 52);
  expect_same_step(models::VGG(models::VGGOptions({4, 0, 4, 4, 0, 8, 0}).num_classes(3)), images,
                   "aten::convolution", 4);
  expect_same_step(models::AlexNet(3), images, "aten::convolution", 5);
  expect_same_step(
      models::VisionTransformer(models::VisionTransformerOptions(64, 16, 3, 2, 8, 16).dropout(0.5)),
      images, "aten::gelu", 3);
}

/// Trains a network with batch norms, and returns the folder of its run.
std::string trained(const TempFolder& folder, const char* name,
                    const std::vector<std::string>& more) {
  const std::string out = folder.path(name);
  std::vector<std::string> arguments{"--out",   out,     "--model",      "mobilenet_v2",
                                     "--limit", "12",    "--batch-size", "6",
                                     "--lr",    "0.001", "--log-losses"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const RunResult ran = train(arguments);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return out + "/run-1";
}

void expect_same_files(const std::string& run, const std::string& other) {
  for (const char* file : {"/losses.csv", "/weights.safetensors"})
    EXPECT_TRUE(bytes_of(run + file) == bytes_of(other + file)) << file;
}

TEST(TrainCheckpointed, ResultsAreTheSameAlsoAfterResuming) {
  const TempFolder folder;
  const std::string plain = trained(folder, "plain", {"--epochs", "2", "--ema", "0.9"});
  const std::string less =
      trained(folder, "less", {"--epochs", "2", "--ema", "0.9", "--checkpoint-activations"});
  expect_same_files(plain, less);
  const std::string resumed =
      trained(folder, "resumed", {"--epochs", "1", "--ema", "0.9", "--checkpoint-activations"});
  const RunResult ran =
      run({"train", "--resume", folder.path("resumed"), "--epochs", "2"}, kOneThread);
  EXPECT_EQ(ran.status, 0) << ran.err;
  expect_same_files(plain, resumed);
}

TEST(TrainCheckpointed, AResumedRunMayBeginToRecompute) {
  const TempFolder folder;
  const std::string plain = trained(folder, "plain", {"--epochs", "2"});
  const std::string resumed = trained(folder, "resumed", {"--epochs", "1"});
  const RunResult ran = run(
      {"train", "--resume", folder.path("resumed"), "--epochs", "2", "--checkpoint-activations"},
      kOneThread);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(bytes_of(folder.path("resumed/config.toml")).find("checkpoint-activations = true"),
            std::string::npos);
  expect_same_files(plain, resumed);
}

/// The number in the line "batch size 32 (cpu: a step needs …".
int64_t chosen_size(const std::vector<std::string>& more, const std::string& out) {
  std::vector<std::string> arguments{
      "--model",     "mobilenet_v2", "--limit",  "650", "--batch-size", "auto",
      "--optimizer", "sgd",          "--epochs", "0",   "--out",        out};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const RunResult ran = train(arguments, {"HEARTH_CPU_MEMORY=120MiB"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  return std::stoll(ran.err.substr(std::string("batch size ").size()));
}

TEST(TrainCheckpointed, LargerBatchesFitIntoTheSameMemory) {
  const TempFolder folder;
  const int64_t plain = chosen_size({}, folder.path("plain"));
  EXPECT_GE(chosen_size({"--checkpoint-activations"}, folder.path("less")), 2 * plain);
}

TEST(TrainCheckpointed, NetworksWithoutBlocksAreRefused) {
  const TempFolder folder;
  for (const char* model : {"tutorial-cnn", "mlp", "lenet"})
    expect_failure(
        train({"--model", model, "--checkpoint-activations", "--out", folder.path("out")}), 1,
        std::string("hearth: --checkpoint-activations recomputes the blocks of a "
                    "network, but '") +
            model +
            "' has none; the flag works with resnet18, resnet34, resnet50, resnet101, resnet152, "
            "vgg11, vgg13, vgg16, vgg16_bn, vgg19, alexnet, mobilenet_v2, vit_b_16, vit_b_32, "
            "vit_l_16");
  EXPECT_EQ(folder.count(), 0);
}

/// The number of layers that Sequentials call in place of their submodules: the blocks.
int64_t blocks_in(const nn::Module& model) {
  int64_t count = 0;
  for (const auto& module : model.modules())
    if (auto* const layers = module->as<nn::SequentialImpl>()) {
      const auto children = layers->children();
      size_t i = 0;
      for (const nn::AnyModule& layer : *layers) count += layer.ptr() != children[i++];
    }
  return count;
}

// Small models only: those of the same class have the same blocks.
TEST(TrainCheckpointed, NetworksThatAreNotRefusedHaveBlocks) {
  for (const std::string name :
       {"tutorial-cnn", "mlp", "lenet", "char-lstm", "resnet18", "mobilenet_v2"}) {
    const nn::AnyModule model = app::make_model(name, {3, 28, 28}, 2);
    EXPECT_EQ(blocks_in(*model.ptr()), 0) << name;
    app::checkpoint_blocks(*model.ptr());
    const bool is_refused =
        error_of([&] { app::check_has_blocks(name); }).find("has none") != std::string::npos;
    EXPECT_EQ(blocks_in(*model.ptr()) == 0, is_refused) << name;
  }
}

}  // namespace
}  // namespace hearth::testing
