// Training steps captured as graphs of GPU work.
#include "hearth/cuda_graph.h"

#include <gtest/gtest.h>

#include <sstream>
#include <utility>

#include "hearth/generator.h"
#include "hearth/io/serialize.h"
#include "hearth/nn.h"
#include "hearth/operators.h"
#include "hearth/optim/adam.h"
#include "hearth/optim/adamw.h"
#include "hearth/optim/nadam.h"
#include "hearth/optim/rmsprop.h"
#include "hearth/optim/sgd.h"
#include "hearth/profiler.h"
#include "tests/support/throws.h"

namespace hearth {
namespace {

/// Three training steps of a network with dropout; all but the first are replays of a graph if
/// `use_graph`. Returns the parameters.
template <class Optimizer, class Options>
std::vector<Tensor> trained(const Options& options, bool use_graph) {
  manual_seed(3);
  nn::Sequential model(nn::Linear(6, 16), nn::ReLU(), nn::Dropout(0.3), nn::Linear(16, 2));
  model->to(kCUDA);
  Optimizer optimizer(model->parameters(), options);
  const Tensor x = randn({8, 6}, kCUDA), y = randn({8, 2}, kCUDA);
  const auto step = [&] {
    optimizer.zero_grad();
    mse_loss(model->forward(x), y).backward();
    optimizer.step();
  };
  const cuda::Stream stream;  // as the graph's, so that all steps are in one stream
  stream.wait_stream(cuda::current_stream());
  cuda::Graph graph;
  {
    const cuda::StreamGuard guard(stream);
    step();
  }
  if (use_graph) {
    const cuda::GraphGuard guard(graph, {0, 0}, stream);
    step();
  }
  const cuda::StreamGuard guard(stream);
  for (int i = 0; i < 2; ++i) {
    x.copy_(full({8, 6}, 0.1 * i));
    use_graph ? graph.replay() : step();
  }
  stream.synchronize();
  std::vector<Tensor> result;
  for (const Tensor& parameter : model->parameters()) result.push_back(parameter.detach().cpu());
  return result;
}

template <class Optimizer, class Options>
void expect_equal_training(const Options& options) {
  const auto expected = trained<Optimizer>(options, false);
  const auto actual = trained<Optimizer>(options, true);
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(actual[i].equal(expected[i])) << "parameter " << i;
}

TEST(CapturedTraining, EqualsTrainingWithoutAGraph) {
  if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU, simulated or real";
  expect_equal_training<optim::SGD>(optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.01));
  expect_equal_training<optim::RMSprop>(optim::RMSpropOptions(0.01).momentum(0.5));
}

TEST(CapturedTraining, CountsStepsOnTheDevice) {
  if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU, simulated or real";
  expect_equal_training<optim::Adam>(optim::AdamOptions(0.1).amsgrad(true).capturable(true));
  expect_equal_training<optim::AdamW>(optim::AdamWOptions(0.1).capturable(true));
}

/// Parameters of which each step of Adam subtracts lr: the gradient is 1, so m' = v' = 1.
std::vector<Tensor> parameters_with_gradients(Device device) {
  std::vector<Tensor> parameters;
  for (const int64_t size : {3, 1, 4}) {
    parameters.push_back(zeros({size}, TensorOptions(device).requires_grad(true)));
    parameters.back().mutable_grad() = ones({size}, device);
  }
  return parameters;
}

void expect_values(const std::vector<Tensor>& parameters, double expected) {
  for (const Tensor& p : parameters)
    EXPECT_NEAR((p - expected).abs().max().item<double>(), 0, 1e-5) << "expected " << expected;
}

void capture_step(optim::Optimizer& optimizer, cuda::Graph& graph) {
  const cuda::GraphGuard capture(graph, {0, 0}, cuda::current_stream());
  optimizer.step();
}

/// A stream of its own for the steps of a test, as a capture needs.
struct OwnStream {
  cuda::Stream stream;
  cuda::StreamGuard guard{stream};
};

optim::AdamParamState& adam_state(const optim::Optimizer& optimizer, const Tensor& parameter) {
  return static_cast<optim::AdamParamState&>(
      *optimizer.state().at(parameter.unsafeGetTensorImpl()));
}

constexpr char kTooEarly[] =
    "Attempting CUDA graph capture of step() before the optimizer has the state of all parameters";

/// Captures a step right after `load(to, from)`, from an optimizer of which the last parameter has
/// one step less.
template <class Optimizer, class Options, class Load>
void expect_capture_after(const Load& load) {
  const OwnStream own;
  const auto parameters = parameters_with_gradients(kCUDA);
  const auto options = Options(0.25).weight_decay(0).capturable(true);
  Optimizer saved(parameters, options), loaded(parameters, options);
  const Tensor gradient = parameters[2].grad();
  parameters[2].mutable_grad() = Tensor();
  saved.step();
  parameters[2].mutable_grad() = gradient;
  saved.step();
  saved.step();
  load(loaded, saved);
  cuda::Graph graph;
  capture_step(loaded, graph);
  for (int i = 0; i < 4; ++i) graph.replay();
  expect_values({parameters[0], parameters[1]}, -7 * 0.25);
  expect_values({parameters[2]}, -6 * 0.25);
  const optim::StateDict dict = loaded.state_dict();
  EXPECT_EQ(dict.at("state.0.step").toInt(), 7);
  EXPECT_EQ(dict.at("state.1.step").toInt(), 7);
  EXPECT_EQ(dict.at("state.2.step").toInt(), 6);
}

TEST(CapturedTraining, CanBeCapturedRightAfterLoading) {
  if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU, simulated or real";
  const auto by_dict = [](optim::Optimizer& to, const optim::Optimizer& from) {
    to.load_state_dict(from.state_dict());
  };
  const auto by_stream = [](auto& to, const auto& from) {
    std::stringstream stream;
    save(from, stream);
    load(to, stream);
  };
  expect_capture_after<optim::Adam, optim::AdamOptions>(by_dict);
  expect_capture_after<optim::AdamW, optim::AdamWOptions>(by_dict);
  expect_capture_after<optim::Adam, optim::AdamOptions>(by_stream);
  expect_capture_after<optim::AdamW, optim::AdamWOptions>(by_stream);
}

TEST(CapturedTraining, RefusesToCaptureAfterTheSwitchToCapturable) {
  if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU, simulated or real";
  const OwnStream own;
  const auto parameters = parameters_with_gradients(kCUDA);
  optim::Adam adam(parameters, optim::AdamOptions(0.25));
  for (int i = 0; i < 3; ++i) adam.step();
  static_cast<optim::AdamOptions&>(adam.param_groups()[0].options()).capturable(true);
  {
    cuda::Graph graph;
    EXPECT_ERROR(capture_step(adam, graph), kTooEarly);
  }
  adam.step();
  cuda::Graph graph;
  capture_step(adam, graph);
  for (int i = 0; i < 2; ++i) graph.replay();
  expect_values(parameters, -6 * 0.25);
  EXPECT_EQ(adam.state_dict().at("state.0.step").toInt(), 6);
}

/// A refused capture of the first step leaves nothing behind: the next steps are as without it.
template <class Optimizer, class Options>
void expect_refused_first_step(const Options& options) {
  const OwnStream own;
  const auto expected = parameters_with_gradients(kCUDA), actual = parameters_with_gradients(kCUDA);
  Optimizer reference(expected, options), optimizer(actual, options);
  {
    cuda::Graph graph;
    EXPECT_ERROR(capture_step(optimizer, graph), kTooEarly);
  }
  for (int i = 0; i < 3; ++i) reference.step();
  optimizer.step();
  cuda::Graph graph;
  capture_step(optimizer, graph);
  for (int i = 0; i < 2; ++i) graph.replay();
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_TRUE(actual[i].equal(expected[i]));
}

TEST(CapturedTraining, RefusesToCaptureTheCreationOfState) {
  if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU, simulated or real";
  expect_refused_first_step<optim::Adam>(optim::AdamOptions(0.25).amsgrad(true).capturable(true));
  expect_refused_first_step<optim::AdamW>(optim::AdamWOptions(0.25).capturable(true));
  expect_refused_first_step<optim::RMSprop>(optim::RMSpropOptions(0.1).momentum(0.5));
  expect_refused_first_step<optim::SGD>(optim::SGDOptions(0.1).momentum(0.9).dampening(0.5));
}

TEST(CapturedTraining, RefusesCapturableOnTheCpu) {
  const auto parameters = parameters_with_gradients(kCPU);
  optim::Adam adam(parameters, optim::AdamOptions(0.25).capturable(true));
  constexpr char kText[] =
      "If capturable=True, params and state_steps must be on supported devices: [";
  EXPECT_ERROR(adam.step(), kText);
  if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU, simulated or real";
  const OwnStream own;
  cuda::Graph graph;
  EXPECT_ERROR(capture_step(adam, graph), kText);
  expect_values(parameters, 0);
}

TEST(CapturedTraining, ReadsTheNumberOfStepsFromTheDevice) {
  if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU, simulated or real";
  const OwnStream own;
  const auto parameters = parameters_with_gradients(kCUDA);
  optim::Adam adam(parameters, optim::AdamOptions(0.25).capturable(true));
  adam.step();
  cuda::Graph graph;
  capture_step(adam, graph);
  optim::AdamParamState& state = adam_state(adam, parameters[1]);
  EXPECT_EQ(state.step(), 1);
  graph.replay();
  graph.replay();
  EXPECT_EQ(std::as_const(state).step(), 3);
  state.step(10);
  graph.replay();
  EXPECT_EQ(state.step(), 11);
  EXPECT_EQ(adam_state(adam, parameters[0]).step(), 4);
}

TEST(CapturedTraining, CountsAllStepsInOneLaunch) {
  if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU, simulated or real";
  const auto parameters = parameters_with_gradients(kCUDA);
  optim::Adam adam(parameters, optim::AdamOptions(0.25).capturable(true));
  adam.step();
  profiler::profile recorded;
  adam.step();
  recorded.stop();
  const auto rows = recorded.key_averages();
  EXPECT_EQ(rows.at("aten::add_").count, 1);
  EXPECT_ERROR(rows.at("aten::_fused_sgd_"), "has no event");
  EXPECT_ERROR(rows.at("aten::fill_"), "has no event");
}

TEST(CapturedTraining, SavesTheCountOfTheDevice) {
  if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU, simulated or real";
  const Tensor p = zeros({3}, TensorOptions(kCUDA).requires_grad(true));
  p.mutable_grad() = ones({3}, kCUDA);
  optim::Adam adam({p}, optim::AdamOptions(0.25).capturable(true));
  const cuda::Stream stream;
  stream.wait_stream(cuda::current_stream());
  const cuda::StreamGuard guard(stream);
  adam.step();
  cuda::Graph graph;
  {
    const cuda::GraphGuard capture(graph, {0, 0}, stream);
    adam.step();
  }
  for (int i = 0; i < 6; ++i) graph.replay();
  stream.synchronize();
  EXPECT_NEAR(p[0].item<double>(), -7 * 0.25, 1e-5);
  EXPECT_EQ(adam.state_dict().at("state.0.step").toInt(), 7);

  optim::Adam loaded({p}, optim::AdamOptions(0.25));
  loaded.load_state_dict(adam.state_dict());
  loaded.step();  // capturable, as it was saved
  EXPECT_EQ(loaded.state_dict().at("state.0.step").toInt(), 8);
  static_cast<optim::AdamOptions&>(adam.param_groups()[0].options()).capturable(false);
  adam.step();
  EXPECT_EQ(adam.state_dict().at("state.0.step").toInt(), 8);
  EXPECT_NEAR(p[0].item<double>(), -9 * 0.25, 1e-5);
}

TEST(CapturedTraining, RefusesStepsThatCount) {
  if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU, simulated or real";
  EXPECT_ERROR(trained<optim::Adam>(optim::AdamOptions(0.1), true),
               "Attempting CUDA graph capture of step() for an instance of Adam but param_groups' "
               "capturable is False.");
  EXPECT_ERROR(trained<optim::NAdam>(optim::NAdamOptions(0.1), true), "an instance of NAdam but");
}

}  // namespace
}  // namespace hearth
