#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

// Optimizers and schedulers as LibTorch programs use them.

using torch::optim::Adam;
using torch::optim::AdamOptions;
using torch::optim::AdamParamState;
using torch::optim::OptimizerParamGroup;
using torch::optim::SGD;
using torch::optim::SGDOptions;

namespace {

torch::Tensor parameter(double value) { return torch::full({2}, value, torch::requires_grad()); }

/// Takes one step on the sum of squares and returns that sum.
template <class O>
double train(O& optimizer, const std::vector<torch::Tensor>& params) {
  optimizer.zero_grad();
  auto loss = torch::zeros({});
  for (const auto& p : params) loss = loss + p.pow(2).sum();
  loss.backward();
  optimizer.step();
  return loss.template item<double>();
}

}  // namespace

TEST(Optim, TrainingLoopConverges) {
  const std::vector<torch::Tensor> params{parameter(3), parameter(-2)};
  Adam optimizer(params, AdamOptions(0.1).betas(std::make_tuple(0.9, 0.99)).weight_decay(1e-4));
  const double first = train(optimizer, params);
  for (int i = 0; i < 60; ++i) train(optimizer, params);
  EXPECT_LT(train(optimizer, params), first / 20);
  auto& state =
      static_cast<AdamParamState&>(*optimizer.state().at(params[0].unsafeGetTensorImpl()));
  EXPECT_EQ(state.step(), 62);
  EXPECT_EQ(state.exp_avg().sizes(), params[0].sizes());
}

TEST(Optim, ParameterGroupsHaveTheirOwnOptions) {
  const auto a = parameter(1), b = parameter(1);
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<torch::Tensor>{a});
  groups.emplace_back(std::vector<torch::Tensor>{b}, std::make_unique<SGDOptions>(0.25));
  SGD optimizer(groups, SGDOptions(0.5));
  train(optimizer, {a, b});
  EXPECT_EQ(a[0].item<float>(), 0);
  EXPECT_EQ(b[0].item<float>(), 0.5);
  for (auto& group : optimizer.param_groups())
    static_cast<SGDOptions&>(group.options()).lr(group.options().get_lr() / 2);
  EXPECT_EQ(optimizer.param_groups()[1].options().get_lr(), 0.125);
  optimizer.param_groups()[0].options().set_lr(1);
  EXPECT_EQ(static_cast<SGDOptions&>(optimizer.param_groups()[0].options()).lr(), 1);
  EXPECT_EQ(static_cast<SGDOptions&>(optimizer.defaults()).lr(), 0.5);
}

TEST(Optim, GroupsInheritUnsetOptions) {
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<torch::Tensor>{parameter(1)},
                      std::make_unique<AdamOptions>(AdamOptions().weight_decay(0.1)));
  Adam optimizer(groups, AdamOptions(0.25).weight_decay(0.5).amsgrad(true));
  const auto& options = static_cast<const AdamOptions&>(optimizer.param_groups()[0].options());
  EXPECT_EQ(options.lr(), 0.25);
  EXPECT_EQ(options.weight_decay(), 0.1);
  EXPECT_TRUE(options.amsgrad());
}

TEST(Optim, StepAcceptsClosures) {
  const auto a = parameter(1);
  torch::optim::RMSprop optimizer({a}, torch::optim::RMSpropOptions(0.1).centered(false));
  const auto loss = optimizer.step([&] {
    optimizer.zero_grad();
    auto value = a.sum();
    value.backward();
    return value;
  });
  EXPECT_EQ(loss.item<float>(), 2);
  EXPECT_LT(a[0].item<float>(), 1);
}

TEST(Optim, ErrorsMatchLibTorch) {
  const auto a = parameter(1);
  const auto expect_error = [](const std::string& text, auto f) {
    try {
      f();
      ADD_FAILURE() << "expected the error: " << text;
    } catch (const c10::Error& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  expect_error("Invalid learning rate: -1", [&] { SGD({a}, SGDOptions(-1)); });
  expect_error("Invalid beta parameter at index 0: 1",
               [&] { Adam({a}, AdamOptions().betas(std::make_tuple(1.0, 0.9))); });
  expect_error("can't optimize a non-leaf Tensor", [&] { SGD({a * 2}, SGDOptions(1)); });
  // LibTorch notices a repeated parameter only once it has a state.
  SGD twice({a}, SGDOptions(1));
  twice.add_param_group(OptimizerParamGroup({a}));
  EXPECT_EQ(twice.param_groups().size(), 2u);
  Adam stepped({a}, AdamOptions(1));
  train(stepped, {a});
  expect_error("some parameters appear in more than one parameter group",
               [&] { stepped.add_param_group(OptimizerParamGroup({a})); });
}

TEST(Optim, StateCanBeSavedAndLoaded) {
  const std::string file = ::testing::TempDir() + "/optimizer_of_compat.pt";
  const auto a = parameter(1), b = parameter(1);
  Adam first({a}, AdamOptions(0.25)), second({b}, AdamOptions(1));
  for (int i = 0; i < 3; ++i) train(first, {a});
  torch::save(first, file);
  torch::load(second, file);
  {
    torch::NoGradGuard no_grad;
    b.copy_(a);
  }
  train(first, {a});
  train(second, {b});
  EXPECT_TRUE(torch::equal(a, b));
  EXPECT_EQ(second.param_groups()[0].options().get_lr(), 0.25);
  std::remove(file.c_str());
}

TEST(Optim, StepLRReducesTheLearningRate) {
  const auto a = parameter(1);
  SGD optimizer({a}, SGDOptions(0.5));
  torch::optim::StepLR scheduler(optimizer, /*step_size=*/20, /*gamma=*/0.5);
  for (int epoch = 0; epoch < 25; ++epoch) {
    if (epoch == 10) {
      EXPECT_DOUBLE_EQ(optimizer.param_groups()[0].options().get_lr(), 0.5);
    }
    train(optimizer, {a});
    scheduler.step();
  }
  EXPECT_DOUBLE_EQ(optimizer.param_groups()[0].options().get_lr(), 0.25);
}

TEST(Optim, PlateauSchedulerReducesTheLearningRate) {
  const auto a = parameter(1);
  SGD optimizer({a}, SGDOptions(0.5));
  torch::optim::ReduceLROnPlateauScheduler scheduler(
      optimizer, torch::optim::ReduceLROnPlateauScheduler::SchedulerMode::min, 0.5, 2);
  for (int epoch = 0; epoch < 6; ++epoch) scheduler.step(1.0F);
  EXPECT_DOUBLE_EQ(optimizer.param_groups()[0].options().get_lr(), 0.25);
}

namespace {

class Decay : public torch::optim::LRScheduler {
 public:
  explicit Decay(torch::optim::Optimizer& optimizer) : LRScheduler(optimizer) {}

 private:
  std::vector<double> get_lrs() override {
    auto rates = get_current_lrs();
    for (double& rate : rates) rate /= 1 + step_count_;
    return rates;
  }
};

struct SignOptions : torch::optim::OptimizerCloneableOptions<SignOptions> {
  explicit SignOptions(double lr) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1;
};

class SignDescent : public torch::optim::Optimizer {
 public:
  SignDescent(std::vector<torch::Tensor> params, SignOptions options)
      : Optimizer({OptimizerParamGroup(std::move(params))},
                  std::make_unique<SignOptions>(options)) {}

  torch::Tensor step(LossClosure closure = nullptr) override {
    torch::NoGradGuard no_grad;
    torch::Tensor loss = closure ? closure() : torch::Tensor();
    for (auto& group : param_groups_)
      for (auto& p : group.params())
        if (p.grad().defined())
          p.add_(p.grad().sign(), -static_cast<SignOptions&>(group.options()).lr());
    return loss;
  }
};

}  // namespace

TEST(Optim, SupportsUserDefinedSchedulers) {
  SGD optimizer({parameter(1)}, SGDOptions(6));
  Decay scheduler(optimizer);
  std::vector<double> rates;
  for (int i = 0; i < 3; ++i) {
    scheduler.step();
    rates.push_back(optimizer.param_groups()[0].options().get_lr());
  }
  EXPECT_EQ(rates, (std::vector<double>{6, 3, 1}));
}

TEST(Optim, SupportsUserDefinedOptimizers) {
  const auto a = parameter(1);
  SignDescent optimizer({a}, SignOptions(0.25));
  train(optimizer, {a});
  EXPECT_EQ(a[0].item<float>(), 0.75);
}
