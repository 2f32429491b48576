#include <gtest/gtest.h>
#include <torch/torch.h>

// Networks from LibTorch's tutorials and examples, programs' own modules and options, functionals.

namespace {

// The network of LibTorch's MNIST example.
struct Net : torch::nn::Module {
  Net()
      : conv1(torch::nn::Conv2dOptions(1, 10, /*kernel_size=*/5)),
        conv2(torch::nn::Conv2dOptions(10, 20, /*kernel_size=*/5)),
        fc1(320, 50),
        fc2(50, 10) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("conv2_drop", conv2_drop);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(torch::max_pool2d(conv1->forward(x), 2));
    x = torch::relu(torch::max_pool2d(conv2_drop->forward(conv2->forward(x)), 2));
    x = x.view({-1, 320});
    x = torch::relu(fc1->forward(x));
    x = torch::dropout(x, /*p=*/0.5, /*training=*/is_training());
    x = fc2->forward(x);
    return torch::log_softmax(x, /*dim=*/1);
  }

  torch::nn::Conv2d conv1;
  torch::nn::Conv2d conv2;
  torch::nn::Dropout2d conv2_drop;
  torch::nn::Linear fc1;
  torch::nn::Linear fc2;
};

TEST(Nn, MnistExampleTrains) {
  torch::manual_seed(1);
  torch::DeviceType device_type = torch::kCPU;
  torch::Device device(device_type);
  Net model;
  model.to(device);
  model.train();
  auto data = torch::rand({8, 1, 28, 28}).to(device), targets = torch::randint(10, {8}).to(device);
  double first = 0, last = 0;
  for (size_t batch_idx = 0; batch_idx < 30; ++batch_idx) {
    model.zero_grad();
    auto output = model.forward(data);
    auto loss = torch::nll_loss(output, targets);
    AT_ASSERT(!std::isnan(loss.template item<float>()));
    loss.backward();
    torch::NoGradGuard no_grad;
    for (auto& p : model.parameters()) p -= 0.05 * p.grad();
    if (batch_idx == 0) first = loss.item<double>();
    last = loss.item<double>();
  }
  EXPECT_LT(last, first);
  model.eval();
  auto pred = model.forward(data).argmax(1);
  EXPECT_EQ(pred.sizes(), torch::IntArrayRef({8}));
  EXPECT_EQ(model.parameters().size(), 8u);
}

// From the tutorial on the C++ frontend: modules are constructed in the member initialisers.
struct DCGANGeneratorImpl : torch::nn::Module {
  DCGANGeneratorImpl(int kNoiseSize)
      : conv1(torch::nn::ConvTranspose2dOptions(kNoiseSize, 256, 4).bias(false)),
        batch_norm1(256),
        conv2(torch::nn::ConvTranspose2dOptions(256, 1, 4).stride(2).padding(1).bias(false)) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("batch_norm1", batch_norm1);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(batch_norm1(conv1(x)));
    return torch::tanh(conv2(x));
  }
  torch::nn::ConvTranspose2d conv1;
  torch::nn::BatchNorm2d batch_norm1;
  torch::nn::ConvTranspose2d conv2;
};
TORCH_MODULE(DCGANGenerator);

TEST(Nn, HoldersAndSequentialBuildAGan) {
  DCGANGenerator generator(100);
  torch::nn::Sequential discriminator(
      torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 16, 4).stride(2).padding(1).bias(false)),
      torch::nn::LeakyReLU(torch::nn::LeakyReLUOptions().negative_slope(0.2)),
      torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 1, 4).stride(1).padding(0).bias(false)),
      torch::nn::Sigmoid());
  torch::Tensor noise = torch::randn({2, 100, 1, 1});
  torch::Tensor fake = generator->forward(noise);
  EXPECT_EQ(fake.sizes(), (std::vector<int64_t>{2, 1, 8, 8}));
  torch::Tensor verdict = discriminator->forward(fake.detach()).reshape(2);
  torch::Tensor loss = torch::binary_cross_entropy(verdict, torch::ones_like(verdict));
  loss.backward();
  EXPECT_TRUE(discriminator->parameters()[0].grad().defined());
  EXPECT_FALSE(generator->parameters()[0].grad().defined());
}

class Block : public torch::nn::Cloneable<Block> {
 public:
  explicit Block(int64_t width, torch::nn::init::NonlinearityType kind = torch::kReLU)
      : width_(width), kind_(kind) {
    reset();
  }
  void reset() override {
    linear = register_module("linear", torch::nn::Linear(width_, width_));
    scale = register_parameter("scale", torch::ones({width_}));
    steps = register_buffer("steps", torch::zeros({1}));
    torch::nn::init::kaiming_normal_(linear->weight, 0.0, torch::kFanIn, kind_);
    torch::nn::init::zeros_(linear->bias);
  }
  torch::Tensor forward(const torch::Tensor& x) {
    steps += 1;
    return x + scale * torch::nn::functional::gelu(linear(x));
  }
  torch::nn::Linear linear{nullptr};
  torch::Tensor scale, steps;

 private:
  int64_t width_;
  torch::nn::init::NonlinearityType kind_;
};

TEST(Nn, ModuleListsCloneAndApply) {
  torch::nn::ModuleList blocks;
  for (int i = 0; i < 3; i++) blocks->push_back(Block(4));
  torch::Tensor x = torch::randn({2, 4});
  for (const auto& module : *blocks) x = module->as<Block>()->forward(x);
  EXPECT_EQ(x.size(1), 4);
  auto copy = blocks->clone();
  EXPECT_EQ(copy->named_parameters().size(), 9u);
  int linears = 0;
  blocks->apply([&](torch::nn::Module& m) {
    if (auto* linear = m.as<torch::nn::Linear>()) {
      torch::NoGradGuard guard;
      torch::nn::init::xavier_uniform_(linear->weight);
      ++linears;
    }
  });
  EXPECT_EQ(linears, 3);
  for (const auto& pair : blocks->named_parameters()) EXPECT_TRUE(pair.value().requires_grad());
  EXPECT_EQ(blocks->named_buffers()["1.steps"].item<float>(), 1);
}

struct MyOptions {
  MyOptions(int64_t size) : size_(size) {}
  TORCH_ARG(int64_t, size);
  TORCH_ARG(torch::ExpandingArray<2>, kernel) = 3;
};

struct WithDefault : torch::nn::Module {
  int forward(int a, int b = 2, double c = 3.0) { return a + b + static_cast<int>(c); }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, torch::nn::AnyValue(2)}, {2, torch::nn::AnyValue(3.0)})
};

struct MImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) { return x * 2; }
};
TORCH_MODULE(M);

TEST(Nn, AModulesNameMayBeOneLetter) {
  M module;
  EXPECT_EQ(module(torch::ones({1})).item<float>(), 2);
  EXPECT_TRUE(M(nullptr).is_empty());
}

TEST(Nn, OptionsAnyModulesAndFunctionalsWork) {
  auto options = MyOptions(4).kernel({1, 2});
  EXPECT_EQ(options.kernel()->at(1) + options.size(), 6);
  torch::nn::AnyModule any(WithDefault{});
  EXPECT_EQ(any.forward<int>(1), 6);
  EXPECT_EQ(any.forward<int>(1, 1, 1.0), 3);
  EXPECT_THROW(any.forward<int>(), c10::Error);
  namespace F = torch::nn::functional;
  auto x = torch::randn({2, 3, 8, 8}), w = torch::randn({4, 3, 3, 3});
  EXPECT_EQ(F::conv2d(x, w, F::Conv2dFuncOptions().stride(2).padding(1)).size(2), 4);
  EXPECT_EQ(F::max_pool2d(x, F::MaxPool2dFuncOptions(2)).size(3), 4);
  EXPECT_EQ(F::mse_loss(x, x, F::MSELossFuncOptions(torch::kSum)).item<float>(), 0);
  EXPECT_EQ(F::mse_loss(x, x, torch::kNone).sizes(), x.sizes());
  EXPECT_EQ(F::softmax(x, /*dim=*/1).sizes(), x.sizes());
  torch::nn::Functional relu(torch::relu);
  EXPECT_GE(relu(x).min().item<float>(), 0);
  torch::nn::LSTM lstm(torch::nn::LSTMOptions(3, 5).num_layers(2).batch_first(true));
  auto [output, state] = lstm->forward(torch::randn({4, 6, 3}));
  EXPECT_EQ(output.sizes(), torch::IntArrayRef({4, 6, 5}));
  EXPECT_EQ(std::get<1>(state).sizes(), torch::IntArrayRef({2, 4, 5}));
  EXPECT_LE(torch::nn::utils::clip_grad_norm_(lstm->parameters(), 1.0), 0.0);
}

}  // namespace
