// Layers, products and convolutions with their gradients, optimizers, and training.
#include "tests/gpu/support.h"

namespace hearth::testing {
namespace {

using Layers = OnGpu;
using Convolutions = OnGpu;
using Optimizers = OnGpu;
using Training = OnGpu;

TEST_F(Layers, SoftmaxMatchesTheCpu) {
  const int64_t vocabulary_size = by_gpu(/*real=*/50257, /*simulated=*/9001);
  for (const ScalarType dtype : kLayerDtypes)
    for (const auto& [sizes, dim] :
         std::vector<std::pair<std::vector<int64_t>, int64_t>>{{{17, vocabulary_size}, 1},
                                                               {{vocabulary_size, 17}, 0},
                                                               {{70000, 10}, 1},
                                                               {{30, 1025, 3}, 1}}) {
      const int64_t d = dim;
      const Tensor x = numbers(sizes) * 2;  // probabilities of different magnitude
      expect_same_gradients(
          {x}, dtype, [d](const Tensors& t) { return softmax(t[0], d); }, "softmax", 2);
      expect_same_gradients(
          {x}, dtype, [d](const Tensors& t) { return log_softmax(t[0], d); }, "log_softmax", 2);
    }
}

TEST_F(Layers, CrossEntropyMatchesTheCpu) {
  const int64_t vocabulary_size = by_gpu(/*real=*/50257, /*simulated=*/3001);
  const Tensor target = randint(vocabulary_size, {129}, kLong);
  target[3].fill_(-100);
  const Tensor logits = numbers({129, vocabulary_size});
  for (const ScalarType dtype : kLayerDtypes)
    for (const double smoothing : {0.0, 0.1}) {
      if (dtype == kHalf && smoothing > 0)
        continue;  // the sum over the vocabulary is too large for half
      expect_same_gradients(
          {logits, target}, dtype,
          [&](const Tensors& t) {
            return cross_entropy_loss(t[0], t[1], {}, Reduction::Mean, -100, smoothing);
          },
          "cross_entropy", 2);
    }
}

TEST_F(Layers, NormsMatchTheCpu) {
  for (const ScalarType dtype : kLayerDtypes) {
    for (const int64_t width : {int64_t{33}, int64_t{1000}, int64_t{9001}}) {
      const Tensor x = numbers({517, width}), w = numbers({width}), b = numbers({width});
      expect_same_gradients(
          {x, w, b}, dtype,
          [width](const Tensors& t) { return layer_norm(t[0], {width}, t[1], t[2]); }, "layer_norm",
          6);
      expect_same_gradients(
          {x, w}, dtype, [width](const Tensors& t) { return rms_norm(t[0], {width}, t[1], 1e-5); },
          "rms_norm", 6);
    }
    const Tensor image = numbers({19, 32, 17, 23}), w = numbers({32}), b = numbers({32});
    expect_same_gradients(
        {image, w, b}, dtype, [](const Tensors& t) { return group_norm(t[0], 4, t[1], t[2]); },
        "group_norm", 6);
    expect_same_gradients(
        {image, w, b}, dtype,
        [](const Tensors& t) {
          return batch_norm(t[0], t[1], t[2], {}, {}, true, 0.1, 1e-5, true);
        },
        "batch_norm", 6);
  }
}

TEST_F(Layers, ProductsOfOddSizesMatchTheCpu) {
  for (const ScalarType dtype : kLayerDtypes)
    for (const int64_t n : {int64_t{1}, int64_t{31}, int64_t{257}}) {
      const Tensor a = numbers({n, 129}), b = numbers({129, 65}), c = numbers({65});
      expect_same_gradients(
          {a, b, c}, dtype, [](const Tensors& t) { return addmm(t[2], t[0], t[1]); }, "addmm", 4);
      const Tensor left = numbers({n, 7, 129}), right = numbers({n, 129, 9});
      expect_same_gradients(
          {left, right}, dtype, [](const Tensors& t) { return bmm(t[0], t[1]); }, "bmm", 4);
    }
}

TEST_F(Layers, BatchSizeMayExceedTheGrid) {
  const Tensor left = numbers({70001, 2, 3}), right = numbers({70001, 3, 2});
  expect_same_gradients(
      {left, right}, kFloat, [](const Tensors& t) { return bmm(t[0], t[1]); }, "bmm");
  expect_same_gradients(
      {numbers({70001, 1, 4, 4})}, kFloat, [](const Tensors& t) { return max_pool2d(t[0], 2); },
      "max_pool2d");
  expect_same_gradients(
      {numbers({70001, 1, 4, 4})}, kFloat,
      [](const Tensors& t) { return avg_pool2d(t[0], 3, 2, 1); }, "avg_pool2d");
}

TEST_F(Layers, EmbeddingMatchesTheCpu) {
  const Tensor table = numbers({1000, 129}), indices = randint(1000, {5000}, kLong);
  for (const ScalarType dtype : kLayerDtypes)
    expect_same_gradients(
        {table, indices}, dtype, [](const Tensors& t) { return embedding(t[0], t[1], 3); },
        "embedding");
}

struct ConvCase {
  std::vector<int64_t> input, weight;
  int64_t stride, padding, dilation, groups;
};

/// The slack of convolutions: Winograd's algorithm, which cuDNN may choose, loses a digit.
double conv_slack(ScalarType dtype) { return dtype == kFloat ? 10 : 4; }

TEST_F(Convolutions, MatchTheCpu) {
  if (!cuda::cudnn_is_available()) GTEST_SKIP() << "cuDNN is missing";
  const ExactConvolutions exact;
  const std::vector<ConvCase> cases{
      {{8, 3, 33, 35}, {16, 3, 3, 3}, 1, 1, 1, 1},   {{4, 16, 19, 17}, {32, 8, 3, 3}, 2, 1, 1, 2},
      {{4, 24, 20, 20}, {24, 1, 3, 3}, 1, 1, 1, 24}, {{2, 8, 30, 30}, {8, 8, 3, 3}, 1, 2, 2, 1},
      {{2, 5, 9, 9}, {7, 5, 1, 1}, 1, 0, 1, 1},      {{1, 1, 64, 64}, {4, 1, 7, 7}, 3, 3, 1, 1}};
  for (const ScalarType dtype : kLayerDtypes)
    for (const bool channels_last : {false, true})
      for (const ConvCase& c : cases) {
        const Tensors inputs{numbers(c.input), numbers(c.weight) * 0.1, numbers({c.weight[0]})};
        const auto call = [&](const Tensors& t) {
          const Tensor x = channels_last ? t[0].contiguous(MemoryFormat::ChannelsLast) : t[0];
          return conv2d(x, t[1], t[2], c.stride, c.padding, c.dilation, c.groups);
        };
        expect_same_gradients(inputs, dtype, call,
                              "conv2d with " + std::to_string(c.groups) + " groups" +
                                  (channels_last ? ", channels last" : ""),
                              conv_slack(dtype));
      }
}

TEST_F(Convolutions, TransposedAnd1dAnd3dMatchTheCpu) {
  if (!cuda::cudnn_is_available()) GTEST_SKIP() << "cuDNN is missing";
  const ExactConvolutions exact;
  for (const ScalarType dtype : kLayerDtypes) {
    expect_same_gradients(
        {numbers({3, 8, 13, 11}), numbers({8, 6, 3, 3}) * 0.1, numbers({6})}, dtype,
        [](const Tensors& t) { return conv_transpose2d(t[0], t[1], t[2], 2, 1, 1); },
        "conv_transpose2d", conv_slack(dtype));
    expect_same_gradients(
        {numbers({5, 4, 301}), numbers({8, 4, 5}) * 0.1}, dtype,
        [](const Tensors& t) { return conv1d(t[0], t[1], {}, 2, 2); }, "conv1d", conv_slack(dtype));
    expect_same_gradients(
        {numbers({2, 3, 9, 10, 11}), numbers({4, 3, 3, 3, 3}) * 0.1}, dtype,
        [](const Tensors& t) { return conv3d(t[0], t[1], {}, 1, 1); }, "conv3d", conv_slack(dtype));
  }
}

/// Too many parameters for one launch, some too large for one block.
Tensors many_parameters(Device device) {
  manual_seed(7);
  Tensors parameters;
  for (int64_t i = 0; i < 500; ++i) {
    static constexpr int64_t kSizes[] = {1, 3, 63, 4095, 4096, 4097, 10, 8193, 2, 1000};
    parameters.push_back(randn({kSizes[i % 10]}).to(device).requires_grad_());
  }
  return parameters;
}

template <class Optimizer, class Options>
void expect_same_steps(const Options& options, const char* name) {
  Tensors results[2];
  for (const bool on_gpu : {false, true}) {
    const Tensors parameters = many_parameters(on_gpu ? kGpu : Device(kCPU));
    Optimizer optimizer(parameters, options);
    for (int step = 0; step < 5; ++step) {
      optimizer.zero_grad();
      for (const Tensor& p : parameters) p.mutable_grad() = p.detach().sin() * (step + 1);
      optimizer.step();
    }
    results[on_gpu] = parameters;
  }
  double worst = 0;
  for (size_t i = 0; i < results[0].size(); ++i)
    worst = std::max(worst, difference(results[1][i], results[0][i].to(kDouble)));
  EXPECT_LE(worst, 1e-4) << name;
}

TEST_F(Optimizers, MatchTheCpuForManyTensors) {
  expect_same_steps<optim::SGD>(optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.01), "SGD");
  expect_same_steps<optim::Adam>(optim::AdamOptions(0.01).weight_decay(0.01), "Adam");
  expect_same_steps<optim::AdamW>(optim::AdamWOptions(0.01), "AdamW");
  expect_same_steps<optim::Adagrad>(optim::AdagradOptions(0.1), "Adagrad");
  expect_same_steps<optim::RMSprop>(optim::RMSpropOptions(0.01).momentum(0.9), "RMSprop");
}

/// The losses of a small network in 20 training steps on fixed data.
std::vector<double> losses(Device device, bool convolutional) {
  manual_seed(11);
  nn::Sequential net;
  if (convolutional)
    net = nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 8, 3).padding(1)), nn::BatchNorm2d(8),
                         nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Linear(8 * 36, 10));
  else
    net = nn::Sequential(nn::Flatten(), nn::Linear(144, 64),
                         nn::LayerNorm(nn::LayerNormOptions({64})), nn::GELU(), nn::Linear(64, 10));
  const Tensor x = randn({64, 1, 12, 12}), target = randint(10, {64}, kLong);
  net->to(device);
  optim::AdamW optimizer(net->parameters(), optim::AdamWOptions(1e-2));
  std::vector<double> result;
  for (int step = 0; step < 20; ++step) {
    optimizer.zero_grad();
    const Tensor loss = cross_entropy_loss(net->forward(x.to(device)), target.to(device));
    loss.backward();
    optimizer.step();
    result.push_back(loss.item<double>());
  }
  return result;
}

TEST_F(Training, LossesMatchTheCpu) {
  const ExactConvolutions exact;
  for (const bool convolutional : {false, true}) {
    if (convolutional && !cuda::cudnn_is_available()) continue;
    const std::vector<double> on_cpu = losses(kCPU, convolutional),
                              on_gpu = losses(kGpu, convolutional);
    EXPECT_LT(on_cpu.back(), 0.5 * on_cpu.front());
    for (size_t i = 0; i < on_cpu.size(); ++i)
      EXPECT_NEAR(on_gpu[i], on_cpu[i], 0.02 * on_cpu.front()) << "step " << i;
  }
}

}  // namespace
}  // namespace hearth::testing
