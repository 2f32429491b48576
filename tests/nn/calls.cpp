// Module calls: hooks, scopes and module names in errors.
#include <limits>

#include "hearth/autograd.h"
#include "hearth/named_scope.h"
#include "hearth/nn.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/nn/support.h"
#include "tests/support/warnings.h"

namespace {

using namespace hearth;
using namespace hearth::nn;
using hearth::testing::error_of;
using hearth::testing::Warnings;

/// A user's module; its forward() calls fc1 through fc1's holder or calls fc1's forward() directly.
struct NetImpl : Module {
  explicit NetImpl(bool through_holder = true) : through_holder_(through_holder) {
    register_module("fc1", fc1);
  }
  Tensor forward(const Tensor& x) { return through_holder_ ? fc1(x) : fc1->forward(x); }
  Linear fc1{2, 3};
  bool through_holder_;
};
HEARTH_MODULE(Net);

/// Registers a forward_pre hook and a forward hook that count their calls.
struct CountHooks {
  explicit CountHooks(Module& module) {
    module.register_forward_pre_hook([this](Module&, std::vector<AnyValue>&) { ++before; });
    module.register_forward_hook(
        [this](Module&, const std::vector<AnyValue>&, AnyValue&) { ++after; });
  }
  int before = 0, after = 0;
};

TEST(Hooks, RunOncePerCallOfAnyForm) {
  Linear linear(2, 3);
  CountHooks count(*linear);
  const Tensor x = ones({1, 2});
  linear(x);
  EXPECT_EQ(count.before, 1);
  linear->forward(x);
  EXPECT_EQ(count.after, 2);
  Sequential(linear, ReLU())->forward(x);
  EXPECT_EQ(count.before, 3);
  AnyModule(linear).forward(x);
  EXPECT_EQ(count.after, 4);
  EXPECT_EQ(count.before, 4);
}

TEST(Hooks, OfUsersModulesRunThroughTheHolderOnly) {
  Net net;
  CountHooks count(*net), inner(*net->fc1);
  net(ones({1, 2}));
  EXPECT_EQ(count.before, 1);
  EXPECT_EQ(inner.before, 1);
  net->forward(ones({1, 2}));
  EXPECT_EQ(count.before, 1);
  EXPECT_EQ(inner.before, 2);
}

TEST(Hooks, ReplaceArgumentsAndResult) {
  Sequential net(Identity(), Functional([](Tensor x) { return x * 3; }));
  std::vector<double> seen;
  net->register_forward_pre_hook([](Module&, std::vector<AnyValue>& arguments) {
    ASSERT_EQ(arguments.size(), 1u);
    arguments[0] = AnyValue(arguments[0].get<Tensor>() + 1);
  });
  net->ptr(1)->register_forward_hook(
      [&](Module& module, const std::vector<AnyValue>& arguments, AnyValue& result) {
        EXPECT_TRUE(module.as<Functional>());
        seen.push_back(arguments[0].get<Tensor>().item<double>());
        result = AnyValue(result.get<Tensor>() * 10);
      });
  EXPECT_EQ(net->forward(tensor(1.0)).item<double>(), 60);
  EXPECT_EQ(seen, std::vector<double>{2});
  net->register_forward_pre_hook(
      [](Module&, std::vector<AnyValue>& arguments) { arguments[0] = AnyValue(1); });
  EXPECT_ERROR(net->forward(tensor(1.0)),
               "Expected argument #0 to be of type hearth::Tensor, but received value of type int");
}

TEST(Hooks, SeeMultipleArgumentsAndTuples) {
  LSTM lstm(2, 3);
  size_t arguments_seen = 0;
  lstm->register_forward_hook(
      [&](Module&, const std::vector<AnyValue>& arguments, AnyValue& result) {
        arguments_seen = arguments.size();
        auto [output, state] = result.get<std::tuple<Tensor, std::tuple<Tensor, Tensor>>>();
        result = AnyValue(std::make_tuple(output + 5, state));
      });
  const Tensor output = std::get<0>(lstm->forward(zeros({1, 1, 2})));
  EXPECT_EQ(arguments_seen, 2u);
  EXPECT_GT(output.min().item<float>(), 3);
}

TEST(Hooks, AreRemovedByTheirHandle) {
  Linear linear(2, 3);
  int calls = 0;
  RemovableHandle once;
  once = linear->register_forward_pre_hook([&](Module&, std::vector<AnyValue>&) {
    ++calls;
    once.remove();  // while it runs
  });
  linear(ones({1, 2}));
  linear(ones({1, 2}));
  EXPECT_EQ(calls, 1);
  RemovableHandle longer;
  longer = Linear(1, 1)->register_forward_pre_hook([](Module&, std::vector<AnyValue>&) {});
  longer.remove();  // after its module was destroyed
}

TEST(Hooks, HasHooksIsFalseOnceAllAreRemoved) {
  Linear linear(2, 3);
  RemovableHandle before =
      linear->register_forward_pre_hook([](Module&, std::vector<AnyValue>&) {});
  RemovableHandle after =
      linear->register_forward_hook([](Module&, const std::vector<AnyValue>&, AnyValue&) {});
  EXPECT_TRUE(nn::detail::ModuleCall::has_hooks(*linear));
  before.remove();
  EXPECT_TRUE(nn::detail::ModuleCall::has_hooks(*linear));
  after.remove();
  EXPECT_FALSE(nn::detail::ModuleCall::has_hooks(*linear));
}

TEST(Hooks, OfACloneAreIndependent) {
  Linear linear(2, 3);
  CountHooks count(*linear);
  const auto copy = std::dynamic_pointer_cast<LinearImpl>(linear->clone());
  CountHooks second(*copy);
  copy->forward(ones({1, 2}));
  EXPECT_EQ(count.before, 1);
  EXPECT_EQ(second.before, 1);
  linear->forward(ones({1, 2}));
  EXPECT_EQ(second.before, 1);
}

TEST(Errors, NameTheModule) {
  const auto outer = std::make_shared<Module>();
  for (const bool through_holder : {true, false}) {
    Net net(through_holder);
    const Tensor wrong = ones({1, 5});
    EXPECT_TRUE(error_of([&] { net(wrong); }).ends_with("(1x5 and 2x3)\nin module fc1 (Linear)"))
        << error_of([&] { net(wrong); });
    EXPECT_TRUE(error_of([&] { net->forward(wrong); }).ends_with("\nin module fc1 (Linear)"));
  }
  Net net;
  outer->register_module("net", net);
  EXPECT_TRUE(error_of([&] { net(ones({1, 5})); }).ends_with("\nin module net.fc1 (Linear)"));
  EXPECT_TRUE(error_of([] { Linear(2, 3)(ones({1, 5})); }).ends_with("\nin module Linear"));
  Sequential sequential(Linear(2, 3), Linear(4, 1));
  EXPECT_TRUE(error_of([&] {
                sequential->forward(ones({1, 2}));
              }).ends_with("\nin module 1 (Linear)"));
}

TEST(Errors, KeepTheirType) {
  EXPECT_ERROR(BatchNorm1d(3)(ones({1, 3})), "Expected more than 1 value per channel");
  EXPECT_ERROR(Sequential(BatchNorm2d(3))->forward(ones({2, 3})), "expected 4D input");
}

TEST(Scopes, BelongToTheRunningModule) {
  Linear linear(2, 3);
  linear->register_forward_pre_hook([&](Module& module, std::vector<AnyValue>&) {
    EXPECT_TRUE(NamedScope::is_innermost(&module));
  });
  linear(ones({1, 2}));
  EXPECT_FALSE(NamedScope::is_innermost(linear.get()));
  EXPECT_NE(error_of([&] { linear(ones({1, 5})); }), "no error");
  EXPECT_FALSE(NamedScope::is_innermost(linear.get()));
}

TEST(Scopes, AppearInTracesOfAnomalyMode) {
  Net net;
  const autograd::DetectAnomalyGuard anomaly;
  const Warnings warnings;
  const Tensor x = full({1, 2}, std::numeric_limits<float>::quiet_NaN());
  EXPECT_NE(error_of([&] { net(x).sum().backward(); }), "no error");
  EXPECT_TRUE(Warnings::contains("  in fc1\n"));
}

}  // namespace
