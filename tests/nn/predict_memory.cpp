// predict_memory: predicted memory against the memory of a real step.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "hearth/hearth.h"
#include "hearth/nn/data_parallel.h"
#include "hearth/nn/pipeline.h"
#include "hearth/utils/memory.h"
#include "tests/support/devices.h"
#include "tests/support/throws.h"

namespace hearth {
namespace {

constexpr double kTolerance = 0.05;

struct Network {
  const char* name;
  std::function<nn::Sequential()> make;
  std::vector<int64_t> input;
  int64_t classes;
};

nn::Sequential perceptron() {
  return nn::Sequential(nn::Linear(784, 512), nn::ReLU(), nn::Dropout(0.1), nn::Linear(512, 256),
                        nn::Tanh(), nn::Linear(256, 10));
}
nn::Sequential plain_convolutions() {
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(3, 16, 3).padding(1)), nn::ReLU(),
                        nn::MaxPool2d(2), nn::Conv2d(nn::Conv2dOptions(16, 32, 3).padding(1)),
                        nn::ReLU(), nn::AvgPool2d(2), nn::Flatten(), nn::Linear(2048, 10));
}
nn::Sequential normalized_convolutions() {
  return nn::Sequential(
      nn::Conv2d(nn::Conv2dOptions(3, 32, 3).padding(1).bias(false)), nn::BatchNorm2d(32),
      nn::SiLU(), nn::Conv2d(nn::Conv2dOptions(32, 32, 3).padding(1).bias(false)),
      nn::BatchNorm2d(32), nn::ReLU(), nn::AdaptiveAvgPool2d(1), nn::Flatten(), nn::Linear(32, 10));
}
nn::Sequential embedded_text() {
  return nn::Sequential(nn::Embedding(2000, 64), nn::Flatten(), nn::Linear(64 * 32, 256),
                        nn::GELU(), nn::Linear(256, 10));
}
nn::Sequential wide_normalized() {
  nn::Sequential layers;
  for (int i = 0; i < 4; ++i) {
    layers->push_back(nn::LayerNorm(nn::LayerNormOptions({256})));
    layers->push_back(nn::Linear(256, 256));
    layers->push_back(nn::GELU());
  }
  layers->push_back(nn::Linear(256, 10));
  return layers;
}

const std::vector<Network>& networks() {
  static const std::vector<Network> all{
      {"perceptron", perceptron, {784}, 10},
      {"convolutions", plain_convolutions, {3, 32, 32}, 10},
      {"normalized convolutions", normalized_convolutions, {3, 32, 32}, 10},
      {"embedded text", embedded_text, {32}, 10},
      {"wide, normalized", wide_normalized, {256}, 10},
  };
  return all;
}

std::vector<Tensor> batch_for(const Network& network, int64_t size, Device device) {
  std::vector<int64_t> sizes{size};
  sizes.insert(sizes.end(), network.input.begin(), network.input.end());
  const bool is_text = std::string(network.name) == "embedded text";
  const Tensor x = is_text ? randint(2000, sizes, TensorOptions(kLong)) : rand(sizes);
  return {x.to(device), randint(network.classes, {size}, TensorOptions(kLong)).to(device)};
}

Tensor cross_entropy(const Tensor& scores, const Tensor& labels) {
  return cross_entropy_loss(scores, labels);
}

/// The statistics of the second of two real steps.
MemoryStats measured(nn::Sequential& model, optim::Optimizer& optimizer,
                     const std::vector<Tensor>& batch) {
  for (int step = 0; step < 2; ++step) {
    optimizer.zero_grad();
    reset_peak_memory_stats(batch[0].device());
    const Tensor output = model->forward(batch[0]);
    cross_entropy(output, batch[1]).backward();
    optimizer.step();
  }
  return memory_stats(batch[0].device());
}

/// Allowed difference in bytes: the CPU's threads count the peaks of small blocks late.
constexpr double kSmall = 16 * 1024;

void compare(const Network& network, Device device) {
  const MemoryStats before = memory_stats(device);
  const auto added = [&](const MemoryStats& stats, MemoryTag tag) {
    return static_cast<double>(stats.of(tag).peak - before.of(tag).current);
  };
  nn::Sequential model = network.make();
  model->to(device);
  optim::Adam optimizer(model->parameters(), 1e-3);
  const std::vector<Tensor> batch = batch_for(network, 64, device);
  const auto prediction = utils::predict_memory(model, cross_entropy, optimizer, batch);
  const MemoryStats real = measured(model, optimizer, batch);
  const auto peak = static_cast<double>(real.allocated_bytes.peak - before.allocated_bytes.current);
  const double scratch = added(real, MemoryTag::Workspace);
  EXPECT_LE(prediction.peak(), (1 + kTolerance) * peak + kSmall) << network.name << ' ' << device;
  EXPECT_GE(prediction.peak(), (1 - kTolerance) * (peak - scratch) - kSmall)
      << network.name << ' ' << device;
  for (const MemoryTag tag : {MemoryTag::Parameter, MemoryTag::Gradient, MemoryTag::OptimizerState,
                              MemoryTag::Activation})
    EXPECT_NEAR(static_cast<double>(prediction.peak(tag)), added(real, tag),
                kTolerance * added(real, tag) + kSmall)
        << network.name << ' ' << device << ' ' << as_text(tag);
}

TEST(PredictMemory, AgreesWithTheStep) {
  for (const Network& network : networks()) {
    compare(network, kCPU);
    if (!cuda::is_available()) continue;
    compare(network, testing::last_gpu());
    // A simulated GPU's scratch memory is the CPU's workspace until its work has finished.
    cuda::synchronize(testing::last_gpu().index());
  }
}

TEST(PredictMemory, ChangesNothing) {
  nn::Sequential model = normalized_convolutions();
  optim::Adam optimizer(model->parameters(), 1e-3);
  const std::vector<Tensor> batch = batch_for(networks()[2], 4, kCPU);
  cross_entropy(model->forward(batch[0]), batch[1]).backward();
  optimizer.step();
  std::vector<Tensor> before;
  for (const Tensor& parameter : model->parameters()) before.push_back(parameter.grad().clone());
  for (const Tensor& tensor : model->buffers()) before.push_back(tensor.clone());
  for (const Tensor& parameter : model->parameters()) before.push_back(parameter.clone());
  const size_t states = optimizer.state().size();
  const Tensor random = default_generator().get_state();
  (void)utils::predict_memory(model, cross_entropy, optimizer, batch);
  std::vector<Tensor> after;
  for (const Tensor& parameter : model->parameters()) after.push_back(parameter.grad());
  for (const Tensor& tensor : model->buffers()) after.push_back(tensor);
  for (const Tensor& parameter : model->parameters()) after.push_back(parameter);
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(before[i].equal(after[i])) << i;
  EXPECT_EQ(optimizer.state().size(), states);
  EXPECT_GT(states, 0u);
  EXPECT_TRUE(default_generator().get_state().equal(random));
}

/// Eight convolutions, whose memory is mostly activations.
nn::Sequential deep_convolutions() {
  nn::Sequential layers;
  for (int i = 0; i < 8; ++i) {
    layers->push_back(nn::Conv2d(nn::Conv2dOptions(16, 16, 3).padding(1)));
    layers->push_back(nn::ReLU());
  }
  layers->push_back(nn::AdaptiveAvgPool2d(1));
  layers->push_back(nn::Flatten());
  layers->push_back(nn::Linear(16, 10));
  return layers;
}

/// The predicted peak of a step in bytes, with or without autocast. Unless null, `real` gets the
/// measured peak.
size_t autocast_peak(Device device, bool enabled, double* real = nullptr) {
  const MemoryStats before = memory_stats(device);
  nn::Sequential model = deep_convolutions();
  model->to(device);
  optim::Adam optimizer(model->parameters(), 1e-3);
  const std::vector<Tensor> batch{rand({32, 16, 32, 32}).to(device),
                                  randint(10, {32}, TensorOptions(kLong)).to(device)};
  Tensor output;
  const auto loss_of = [&](const std::vector<Tensor>& values) -> Tensor {
    const AutocastMode autocast(device.type(), kBFloat16, enabled);
    output.reset();
    output = model->forward(values[0]).to(kFloat);
    return cross_entropy_loss(output, values[1]);
  };
  const size_t predicted = utils::predict_step_memory(*model, loss_of, optimizer, batch).peak();
  output.reset();
  for (int step = 0; real && step < 2; ++step) {
    optimizer.zero_grad();
    reset_peak_memory_stats(device);
    loss_of(batch).backward();
    optimizer.step();
  }
  if (device.is_cuda()) cuda::synchronize(device.index());
  const MemoryStats stats = memory_stats(device);
  if (real)
    *real = static_cast<double>(stats.allocated_bytes.peak - before.allocated_bytes.current);
  return predicted;
}

TEST(PredictMemory, FollowsAutocast) {
  EXPECT_LT(autocast_peak(kCPU, true), 0.75 * double(autocast_peak(kCPU, false)));
  if (!cuda::is_available()) return;
  const Device gpu = testing::last_gpu();
  double real = 0;
  const size_t predicted = autocast_peak(gpu, true, &real);
  EXPECT_NEAR(double(predicted), real, kTolerance * real);
  EXPECT_LT(predicted, 0.75 * double(autocast_peak(gpu, false)));
}

TEST(PredictMemory, KeepsTheGradientsOfOtherAndFrozenParameters) {
  nn::Linear model(4, 4), other(4, 4);
  std::vector<Tensor> parameters = model->parameters();
  for (const Tensor& parameter : other->parameters()) parameters.push_back(parameter);
  optim::SGD optimizer(parameters, 0.1);
  other(model(ones({2, 4}))).sum().backward();
  model->bias.set_requires_grad(false);
  std::vector<Tensor> before;
  for (const Tensor& parameter : parameters) before.push_back(parameter.grad());
  const auto sum = [](const Tensor& y) { return y.sum(); };
  (void)utils::predict_memory(model, sum, optimizer, {ones({2, 4})});
  for (size_t i = 0; i < parameters.size(); ++i) {
    ASSERT_TRUE(parameters[i].grad().defined()) << i;
    EXPECT_TRUE(parameters[i].grad().is_same(before[i])) << i;
  }
}

/// Two layers that share a weight.
struct Tied : nn::Module {
  Tied() {
    register_module("first", first);
    register_module("second", second);
    second->weight = first->weight;
    second->register_parameter("shared", first->weight);
  }
  Tensor forward(const Tensor& x) { return second(first(x)); }
  nn::Linear first{4, 4}, second{4, 4};
};

TEST(PredictMemory, SharedParametersAreRestored) {
  const auto model = std::make_shared<Tied>();
  const Tensor before = model->first->weight.clone();
  optim::SGD optimizer(model->parameters(), 0.1);
  const auto sum = [](const Tensor& y) { return y.sum(); };
  EXPECT_GT(utils::predict_memory(model, sum, optimizer, {ones({2, 4})}).peak(), 0u);
  EXPECT_TRUE(model->first->weight.equal(before));
  EXPECT_TRUE(model->first->weight.device().is_cpu());
}

TEST(PredictMemory, RefusesInvalidSteps) {
  nn::Sequential model(nn::Linear(2, 2));
  optim::SGD optimizer(model->parameters(), 0.1);
  EXPECT_ERROR(utils::predict_memory(model, cross_entropy, optimizer, {ones({1, 2})}),
               "expected 2 inputs (the model's input and the loss's target), but got 1");
  const auto reads = [](const Tensor& y) { return y * y.sum().item<float>(); };
  EXPECT_ERROR(utils::predict_memory(model, reads, optimizer, {ones({1, 2})}),
               "in predict_memory(), which runs the step on the meta device");
  EXPECT_TRUE(model->parameters()[0].device().is_cpu());
  const auto sum = [](const Tensor& y) { return y.sum(); };
  EXPECT_ERROR(utils::predict_memory(model, sum, optimizer, {Tensor()}), "an input is undefined");
  nn::Sequential lazy(nn::LazyLinear(2));
  EXPECT_ERROR(utils::predict_memory(lazy, sum, optimizer, {ones({1, 2})}),
               "the sizes of a lazy module are not known yet");
  nn::Linear without_features(8, 0);
  optim::SGD of_none(without_features->parameters(), 0.1);
  EXPECT_NO_THROW(utils::predict_memory(without_features, sum, of_none, {ones({2, 8})}));
}

TEST(PredictMemory, RefusesModelsOnSeveralDevices) {
  if (cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  const Device first("cuda:0"), second("cuda:1");
  const auto sum = [](const Tensor& y) { return y.sum(); };
  const std::vector<Tensor> batch{ones({2, 4}, first)};
  nn::Sequential both(nn::Linear(4, 4), nn::Linear(4, 4));
  optim::SGD optimizer(both->parameters(), 0.1);
  both->to(first);
  nn::DataParallel parallel(both);
  EXPECT_ERROR(utils::predict_memory(parallel, sum, optimizer, batch),
               "nn::DataParallel is not supported");
  both->ptr(1)->to(second);
  EXPECT_ERROR(utils::predict_memory(both, sum, optimizer, batch),
               "models on several devices are not supported; this one is on cuda:0 and cuda:1");
  nn::Pipeline pipeline(both, nn::PipelineOptions({first, second}));
  EXPECT_ERROR(utils::predict_memory(pipeline, sum, optimizer, batch),
               "nn::Pipeline is not supported");
}

}  // namespace
}  // namespace hearth
