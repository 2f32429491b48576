// Training steps captured as graphs of GPU work.
#include "hearth/cuda_graph.h"

#include <gtest/gtest.h>

#include "hearth/generator.h"
#include "hearth/nn.h"
#include "hearth/operators.h"
#include "hearth/optim/adam.h"
#include "hearth/optim/adamw.h"
#include "hearth/optim/nadam.h"
#include "hearth/optim/rmsprop.h"
#include "hearth/optim/sgd.h"
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

/// The parameter after `steps` steps of Adam with the gradient 1: each subtracts lr, as m' = v'
/// = 1.
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
