// Several devices in one process: scatter, gather, replicate, parallel_apply, data_parallel and
// DataParallel, on two (simulated) GPUs.
#include "hearth/nn/data_parallel.h"

#include <sstream>

#include <map>

#include "hearth/hearth.h"
#include "hearth/utils/checkpoint.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

const Device kFirst(DeviceType::CUDA, 0), kSecond(DeviceType::CUDA, 1);
const std::vector<Device> kBoth{kFirst, kSecond};
// Divides small batches too, as PyTorch does.
const nn::DataParallelOptions kDivided = nn::DataParallelOptions().min_rows(1);

class SeveralDevices : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
    manual_seed(7);
  }
};

/// Two layers, batch norm and a buffer.
struct ShiftedNetImpl : nn::Cloneable<ShiftedNetImpl> {
  ShiftedNetImpl() { reset(); }
  void reset() override {
    first = register_module("first", nn::Linear(6, 8));
    norm = register_module("norm", nn::BatchNorm1d(8));
    second = register_module("second", nn::Linear(8, 3));
    shift = register_buffer("shift", full({3}, 0.5));
  }
  Tensor forward(const Tensor& x) { return second(norm(first(x).tanh())) + shift; }
  nn::Linear first = nullptr, second = nullptr;
  nn::BatchNorm1d norm = nullptr;
  Tensor shift;
};
HEARTH_MODULE(ShiftedNet);

/// Takes and returns nested values.
struct NestedValuesImpl : nn::Cloneable<NestedValuesImpl> {
  using Dict = std::map<std::string, Tensor>;
  NestedValuesImpl() { reset(); }
  void reset() override { layer = register_module("layer", nn::Linear(4, 2)); }
  std::tuple<Tensor, std::vector<Tensor>> forward(const Dict& inputs, double factor,
                                                  const std::optional<Tensor>& mask) {
    Tensor y = layer(inputs.at("x")) * factor;
    if (mask) y = y * *mask;
    return {y, {y.sum(1), inputs.at("x")}};
  }
  nn::Linear layer = nullptr;
};
HEARTH_MODULE(NestedValues);

/// Fails on the second device.
struct FailingImpl : nn::Cloneable<FailingImpl> {
  void reset() override {}
  Tensor forward(const Tensor& x) {
    HEARTH_CHECK(x.device() == kFirst, "no work today");
    return x;
  }
};
HEARTH_MODULE(Failing);

struct NotCloneableImpl : nn::Module {
  Tensor forward(const Tensor& x) { return x; }
};
HEARTH_MODULE(NotCloneable);

template <class F>
::testing::AssertionResult fails_with(const F& f, const std::string& text) {
  const std::string message = error_of(f);
  if (message.find(text) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "message: " << message;
}

void expect_close_values(const Tensor& actual, const Tensor& expected, double tolerance = 1e-6) {
  ASSERT_EQ(actual.sizes(), expected.sizes());
  EXPECT_LE((actual.detach().cpu() - expected.detach().cpu()).abs().max().item<double>(),
            tolerance);
}

TEST_F(SeveralDevices, ScattersUnevenly) {
  const Tensor x = arange(10.).view({5, 2}).requires_grad_();
  const std::vector<Tensor> parts = nn::parallel::scatter(x, kBoth);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].size(0), 3);
  EXPECT_EQ(parts[1].device(), kSecond);
  const Tensor y = nn::parallel::gather(parts, kSecond);
  EXPECT_EQ(y.device(), kSecond);
  EXPECT_TRUE(y.cpu().equal(x));
  (y * y).sum().backward();
  EXPECT_TRUE(x.grad().equal(2 * x.detach()));
  EXPECT_EQ(nn::parallel::scatter(ones({1, 2}), kBoth).size(), 1u);
  EXPECT_EQ(nn::parallel::scatter(ones({0, 2}), kBoth).size(), 1u);
  EXPECT_EQ(nn::parallel::scatter(x, kBoth, std::vector<int64_t>{1, 4})[1].size(0), 4);
  EXPECT_EQ(nn::parallel::scatter(ones({2, 6}), kBoth, {}, -1)[1].size(1), 3);
}

TEST_F(SeveralDevices, ChecksSplits) {
  EXPECT_TRUE(fails_with([] { nn::parallel::scatter(ones({}), kBoth); }, "0-d tensor"));
  EXPECT_TRUE(fails_with([] { nn::parallel::scatter(ones({3}), kBoth, {}, 1); }, "out of range"));
  EXPECT_TRUE(fails_with(
      [] {
        nn::parallel::scatter(ones({3}), kBoth, std::vector<int64_t>{1, 1});
      },
      "sum of chunk_sizes to be 3"));
  EXPECT_TRUE(fails_with([] { nn::parallel::scatter(ones({3}), {}); }, "at least one device"));
  EXPECT_TRUE(fails_with([] { nn::parallel::gather(std::vector<Tensor>{}, kFirst); },
                         "at least one tensor"));
  const std::vector<Tensor> unequal{ones({4}), ones({1})};
  EXPECT_TRUE(fails_with([&] { nn::parallel::scatter(unequal, kBoth); }, "same batch size"));
}

TEST_F(SeveralDevices, ReplicasPassGradientsOn) {
  nn::Linear layer(3, 2);
  layer->to(kFirst);
  const Tensor before = rand({2});
  manual_seed(3);
  const auto replicas = nn::parallel::replicate(layer, kBoth);
  const Tensor drawn = rand({2});
  manual_seed(3);
  EXPECT_TRUE(drawn.equal(rand({2}))) << "replicate() must not draw from the program's generator";
  ASSERT_EQ(replicas.size(), 2u);
  EXPECT_EQ(replicas[1]->weight.device(), kSecond);
  EXPECT_TRUE(replicas[1]->weight.cpu().equal(layer->weight.cpu()));
  Tensor loss = zeros({}, kFirst);
  for (auto replica : replicas) loss = loss + (replica->weight * 2).sum().to(kFirst);
  loss.backward();
  EXPECT_TRUE(layer->weight.grad().cpu().equal(full({2, 3}, 4.)));
  EXPECT_FALSE(layer->bias.grad().defined());
}

TEST_F(SeveralDevices, ReplicatesFrozenParametersFromTheCpu) {
  nn::Linear layer(3, 2);
  layer->weight.set_requires_grad(false);
  auto replicas = nn::parallel::replicate(layer, kBoth);
  EXPECT_FALSE(replicas[1]->weight.requires_grad());
  const Tensor y = replicas[1](ones({1, 3}, kSecond));
  y.sum().backward();
  EXPECT_FALSE(layer->weight.grad().defined());
  EXPECT_TRUE(layer->bias.grad().equal(ones({2})));
}

TEST_F(SeveralDevices, AppliesInParallel) {
  nn::Linear layer(3, 2);
  layer->to(kFirst);
  auto replicas = nn::parallel::replicate(layer, kBoth);
  const std::vector<Tensor> inputs{ones({1, 3}, kFirst), ones({2, 3}, kSecond)};
  const auto outputs = nn::parallel::parallel_apply(replicas, inputs, kBoth);
  EXPECT_EQ(outputs[1].device(), kSecond);
  EXPECT_EQ(outputs[1].sizes(), IntArrayRef({2, 2}));
  EXPECT_TRUE(fails_with([&] { nn::parallel::parallel_apply(replicas, {inputs[0]}); },
                         "as many inputs as modules"));
  {
    const NoGradGuard no_grad;
    EXPECT_FALSE(nn::parallel::parallel_apply(replicas, inputs)[1].requires_grad());
  }
}

TEST_F(SeveralDevices, DataParallelFunctionEqualsThePlainCall) {
  nn::Linear layer(3, 2);
  layer->to(kFirst);
  const Tensor x = rand({5, 3});
  for (const std::vector<Device>& devices : {kBoth, std::vector<Device>{kFirst}}) {
    layer->zero_grad();
    const Tensor y = nn::parallel::data_parallel(layer, x, devices, kSecond);
    EXPECT_EQ(y.device(), kSecond);
    expect_close_values(y, layer(x.to(kFirst)));
    y.sum().backward();
    expect_close_values(layer->weight.grad(), x.sum(0).expand({2, 3}), 1e-5);
  }
}

TEST_F(SeveralDevices, TrainsAsOneDeviceDoes) {
  ShiftedNet plain, copy;
  copy->load_state_dict(plain->state_dict());
  plain->to(kFirst), copy->to(kFirst);
  plain->norm->eval(), copy->norm->eval();  // batch statistics differ between parts
  nn::DataParallel model(copy, kDivided);
  optim::SGD sgd(plain->parameters(), 0.1), sgd_copy(model->parameters(), 0.1);
  for (int step = 0; step < 5; ++step) {
    const Tensor x = rand({5, 6}, kFirst), target = rand({5, 3}, kFirst);
    sgd.zero_grad(), sgd_copy.zero_grad();
    const Tensor loss = mse_loss(plain(x), target), other = mse_loss(model(x), target);
    loss.backward(), other.backward();
    expect_close_values(other, loss);
    for (const auto& item : plain->named_parameters())
      expect_close_values(copy->named_parameters()[item.key()].grad(), item->grad());
    sgd.step(), sgd_copy.step();
  }
}

TEST_F(SeveralDevices, KeepsBuffersAndModes) {
  ShiftedNet net;
  net->to(kFirst);
  nn::DataParallel model(net, kDivided);
  model(rand({6, 6}));
  EXPECT_EQ(net->norm->num_batches_tracked.item<int64_t>(), 1);
  const Tensor mean = net->norm->running_mean.clone();
  model->eval();
  const NoGradGuard no_grad;
  const Tensor x = rand({5, 6}, kFirst);
  expect_close_values(model(x), net(x));
  net->shift.add_(1);
  expect_close_values(model(x), net(x));
  EXPECT_TRUE(mean.equal(net->norm->running_mean));
  EXPECT_FALSE(model(x).requires_grad());
}

TEST_F(SeveralDevices, TwoCallsBeforeBackward) {
  nn::Linear layer(3, 2);
  layer->to(kFirst);
  nn::DataParallel model(layer, kDivided);
  const Tensor a = rand({4, 3}, kFirst), b = rand({4, 3}, kFirst);
  const Tensor loss = model(a).sin().sum() + model(b).sin().sum();
  loss.backward();
  const Tensor weight_grad = layer->weight.grad().clone();
  layer->zero_grad();
  (layer(a).sin().sum() + layer(b).sin().sum()).backward();
  expect_close_values(weight_grad, layer->weight.grad());
}

TEST_F(SeveralDevices, SecondDerivatives) {
  nn::Linear layer(3, 2);
  layer->to(kFirst);
  nn::DataParallel model(layer, kDivided);
  const Tensor x = rand({4, 3}, kFirst);
  const auto penalty = [&](auto& net) {
    const Tensor g = autograd::grad({net(x).pow(3).sum()}, {layer->weight}, {}, {}, true)[0];
    return autograd::grad({g.pow(2).sum()}, {layer->weight})[0];
  };
  const Tensor expected = penalty(layer);
  expect_close_values(penalty(model) / expected.abs().max(), expected / expected.abs().max());
}

/// Two layers. If `is_lean`, backward computes the first one again, and the second one keeps its
/// saved tensors on the host.
struct LeanNetImpl : nn::Cloneable<LeanNetImpl> {
  LeanNetImpl() { reset(); }
  void reset() override {
    first = register_module("first", nn::Linear(6, 8));
    second = register_module("second", nn::Linear(8, 3));
  }
  Tensor forward(const Tensor& x) {
    const auto body = [this](const Tensor& t) { return first(t).tanh(); };
    if (!is_lean) return second(body(x)).tanh();
    const Tensor hidden = utils::checkpoint(body, x);
    const autograd::graph::save_on_cpu guard(/*pin_memory=*/true);
    return second(hidden).tanh();
  }
  nn::Linear first = nullptr, second = nullptr;
  bool is_lean = true;
};
HEARTH_MODULE(LeanNet);

TEST_F(SeveralDevices, ReplicasCheckpointAndOffload) {
  LeanNet net;
  net->to(kFirst);
  nn::DataParallel model(net, kDivided);
  for (int step = 0; step < 3; ++step) {
    const Tensor x = rand({5, 6}, kFirst);
    net->zero_grad();
    net->is_lean = true;
    model(x).pow(2).sum().backward();
    std::vector<Tensor> gradients;
    for (const Tensor& parameter : net->parameters()) gradients.push_back(parameter.grad().clone());
    net->zero_grad();
    net->is_lean = false;
    net(x).pow(2).sum().backward();
    for (size_t i = 0; i < gradients.size(); ++i)
      expect_close_values(gradients[i], net->parameters()[i].grad());
  }
}

TEST_F(SeveralDevices, NestedArguments) {
  NestedValues net;
  net->to(kFirst);
  nn::DataParallel model(net, kDivided);
  const std::map<std::string, Tensor> inputs{{"x", rand({5, 4}, kFirst)}};
  const std::optional<Tensor> mask = ones({5, 2}, kFirst);
  const auto [y, list] = model(inputs, 2.0, mask);
  const auto [plain, plain_list] = net(inputs, 2.0, mask);
  expect_close_values(y, plain);
  ASSERT_EQ(list.size(), 2u);
  expect_close_values(list[0], plain_list[0]);
  EXPECT_TRUE(list[1].equal(inputs.at("x")));
}

TEST_F(SeveralDevices, ErrorsNameTheDevice) {
  nn::DataParallel model{Failing()};
  EXPECT_TRUE(fails_with([&] { model(ones({4})); }, "no work today"));
  EXPECT_TRUE(fails_with([&] { model(ones({4})); }, "in replica 1 on device cuda:1"));
  EXPECT_EQ(model(ones({1})).numel(), 1);
  nn::DataParallel other{NotCloneable()};
  EXPECT_TRUE(fails_with([&] { other(ones({4})); }, "Subclass hearth::nn::Cloneable"));
  nn::DataParallel on_cpu{nn::Linear(2, 2)};
  EXPECT_TRUE(fails_with([&] { on_cpu(ones({4, 2})); }, "found one of them on device: cpu"));
  EXPECT_TRUE(fails_with(
      [&] {
        const nn::DataParallel twice(nn::Linear(2, 2), nn::DataParallelOptions({kFirst, kFirst}));
      },
      "twice"));
}

TEST_F(SeveralDevices, SeesReplacedModules) {
  nn::Sequential net(nn::Linear(3, 3), nn::Linear(3, 2));
  net->to(kFirst);
  nn::DataParallel model(net, kDivided);
  const Tensor x = rand({4, 3}, kFirst);
  expect_close_values(model(x), net->forward(x));
  net->push_back(nn::Tanh());
  expect_close_values(model(x), net->forward(x));
  net->ptr<nn::LinearImpl>(0)->weight.set_data(ones({3, 3}, kFirst));
  expect_close_values(model(x), net->forward(x));
}

TEST_F(SeveralDevices, LazyModulesNeedACallFirst) {
  nn::LazyLinear lazy(2);
  lazy->to(kFirst);
  nn::DataParallel model(static_cast<const nn::Linear&>(lazy), kDivided);
  const Tensor x = rand({4, 3}, kFirst);
  EXPECT_TRUE(fails_with([&] { model(x); }, "Run a dummy forward pass"));
  lazy(x);
  expect_close_values(model(x), lazy(x));
}

TEST_F(SeveralDevices, TrainsBuffersThatRequireGrad) {
  ShiftedNet net;
  net->to(kFirst);
  net->shift.set_requires_grad(true);
  nn::DataParallel model(net, kDivided);
  model(rand({6, 6}, kFirst)).sum().backward();
  EXPECT_TRUE(net->shift.grad().cpu().equal(full({3}, 6.)));
}

TEST_F(SeveralDevices, PrintsAndNamesItsModule) {
  nn::DataParallel model{nn::Linear(2, 1)};
  std::ostringstream text;
  text << model;
  EXPECT_EQ(text.str(),
            "DataParallel(\n  (module): Linear(in_features=2, out_features=1, bias=true)\n)");
  EXPECT_TRUE(model->state_dict().contains("module.weight"));
}

}  // namespace
}  // namespace hearth::testing
