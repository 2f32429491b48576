// Hooks on tensors, leaves and nodes; retained gradients; names and edges of nodes.
#include "tests/autograd/support.h"

#include "hearth/autograd_hooks.h"

namespace hearth::testing {
namespace {

TEST(Hooks, RunInOrderAndReplaceGradients) {
  const Tensor x = leaf({1, 1});
  const Tensor y = x * 2;
  std::vector<int> order;
  y.register_hook([&](Tensor grad) {
    order.push_back(1);
    return grad * 10;
  });
  y.register_hook([&](Tensor grad) {
    order.push_back(2);
    expect_values(grad, {10, 10});
  });
  y.sum().backward();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  expect_values(x.grad(), {20, 20});
}

TEST(Hooks, ReplaceGradientsOfLeaves) {
  const Tensor x = leaf({1, 1});
  x.register_hook([](const Tensor& grad) { return grad * 2; });
  (x * 3).sum().backward();
  expect_values(x.grad(), {6, 6});
}

TEST(Hooks, OfLeavesApplyToGrad) {
  const Tensor x = leaf({1});
  x.register_hook([](const Tensor& grad) { return grad * 2; });
  expect_values(autograd::grad({x * 3}, {x})[0], {6});
}

TEST(Hooks, OfIntermediatesApplyToGrad) {
  const Tensor y = leaf({1}) * 1;
  y.register_hook([](const Tensor& grad) { return grad * 2; });
  expect_values(autograd::grad({y * 3}, {y})[0], {6});
}

TEST(Hooks, CanBeRemoved) {
  const Tensor x = leaf({1});
  int calls = 0;
  const unsigned first = x.register_hook([&](const Tensor&) { calls += 1; });
  x.register_hook([&](const Tensor&) { calls += 10; });
  x.remove_hook(first);
  (x * 1).backward();
  EXPECT_EQ(calls, 10);
  EXPECT_ERROR(x.remove_hook(3), "Invalid index");
  EXPECT_ERROR(leaf({1}).remove_hook(0), "Invalid index, no hook at position 0");
}

TEST(Hooks, MustNotChangeTheSize) {
  const Tensor y = leaf({1, 1}) * 2;
  y.register_hook([](const Tensor&) { return ones({3}); });
  EXPECT_ERROR(y.sum().backward(), "has changed the size of value");
}

TEST(Hooks, NeedRequiresGrad) {
  EXPECT_ERROR(vec({1}).register_hook([](const Tensor&) {}),
               "cannot register a hook on a variable that doesn't require gradient");
}

TEST(Hooks, StayWithTheValueBeforeAnInplaceWrite) {
  const Tensor x = leaf({1, 1});
  const Tensor y = x * 2;
  std::vector<double> before, after;
  y.register_hook([&](const Tensor& grad) { before = values_of(grad); });
  y.mul_(5);
  y.register_hook([&](const Tensor& grad) { after = values_of(grad); });
  y.sum().backward();
  EXPECT_EQ(before, (std::vector<double>{5, 5}));
  EXPECT_EQ(after, (std::vector<double>{1, 1}));
}

TEST(Hooks, ThatThrowStopBackward) {
  const Tensor x = leaf({1});
  const Tensor y = x * 2;
  y.register_hook([](const Tensor&) { throw Error("no further"); });
  EXPECT_ERROR(y.backward(), "no further");
  EXPECT_FALSE(x.grad().defined());
}

TEST(RetainGrad, KeepsAnIntermediatesGradient) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  y.retain_grad();
  EXPECT_TRUE(y.retains_grad());
  EXPECT_FALSE(x.retains_grad());
  y.register_hook([](const Tensor& grad) { return grad * 10; });
  (y * 3).sum().backward({}, true);
  expect_values(y.grad(), {30, 30});  // with the hooks applied
  expect_values(x.grad(), {60, 60});
}

TEST(RetainGrad, FollowsAnInplaceWrite) {
  const Tensor x = leaf({1, 1});
  const Tensor y = x * 2;
  y.retain_grad();
  y.mul_(3);
  y.sum().backward();
  expect_values(y.grad(), {1, 1});
  expect_values(x.grad(), {6, 6});
}

TEST(RetainGrad, FollowsAWriteThroughAView) {
  const Tensor x = leaf({1, 1});
  const Tensor y = x * 2;
  y.retain_grad();
  y[0].mul_(5);
  y.sum().backward();
  expect_values(y.grad(), {1, 1});
  expect_values(x.grad(), {10, 2});
}

TEST(RetainGrad, AllowsTheTensorToBeDestroyed) {
  const Tensor x = leaf({1});
  Tensor z;
  {
    const Tensor y = x * 2;
    y.retain_grad();
    z = y * 3;
  }
  z.backward();
  expect_values(x.grad(), {6});
  EXPECT_ERROR(vec({1}).retain_grad(), "can't retain_grad on Tensor that has requires_grad=False");
}

TEST(PostAccumulate, RunsAfterTheGradientWasAdded) {
  const Tensor x = leaf({1, 1});
  std::vector<double> seen;
  const unsigned id = autograd::register_post_accumulate_grad_hook(x, [&](const Tensor& t) {
    seen = values_of(t.grad());
    t.mutable_grad().reset();
  });
  (x * 3).sum().backward();
  EXPECT_EQ(seen, (std::vector<double>{3, 3}));
  EXPECT_FALSE(x.grad().defined());
  (x * 4).sum().backward();  // a new accumulator, the same hook
  EXPECT_EQ(seen, (std::vector<double>{4, 4}));
  autograd::remove_post_accumulate_grad_hook(x, id);
  (x * 5).sum().backward();
  expect_values(x.grad(), {5, 5});
  EXPECT_ERROR(autograd::remove_post_accumulate_grad_hook(x, 1), "Invalid index");
}

TEST(PostAccumulate, RequiresALeaf) {
  const auto nothing = [](const Tensor&) {};
  EXPECT_ERROR(autograd::register_post_accumulate_grad_hook(leaf({1}) * 2, nothing),
               "post accumulate grad hooks cannot be registered on non-leaf tensors");
  EXPECT_ERROR(autograd::register_post_accumulate_grad_hook(vec({1}), nothing),
               "cannot register a hook on a tensor that doesn't require gradient");
}

TEST(NodeHooks, SeeGradientsBeforeAndAfter) {
  const Tensor x = leaf({1});
  const Tensor y = x * 2;
  std::vector<double> results;
  y.grad_fn()->add_pre_hook([](const variable_list& grads) { return variable_list{grads[0] * 3}; });
  y.grad_fn()->add_post_hook([&](const variable_list& outputs, const variable_list& inputs) {
    results = {values_of(inputs[0])[0], values_of(outputs[0])[0]};
    return outputs;
  });
  y.backward();
  EXPECT_EQ(results, (std::vector<double>{3, 6}));
  expect_values(x.grad(), {6});
}

TEST(Nodes, ExposeNamesAndEdges) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * vec({3, 4});
  EXPECT_EQ(y.grad_fn()->name(), "MulBackward0");
  ASSERT_GE(y.grad_fn()->next_edges().size(), 1u);
  EXPECT_EQ(y.grad_fn()->next_edge(0).function->name(), "torch::autograd::AccumulateGrad");
  EXPECT_EQ(y.output_nr(), 0);
  EXPECT_EQ(autograd::gradient_edge(y).function.get(), y.grad_fn().get());
}

TEST(Nodes, AreLinkedByMakeVariable) {
  const Tensor x = leaf({1, 2});
  const Tensor copy = autograd::make_variable(x.tensor_data(), true);
  EXPECT_TRUE(copy.is_leaf() && copy.requires_grad());
  EXPECT_EQ(copy.data_ptr(), x.data_ptr());
  const Tensor linked = autograd::make_variable(vec({7, 7}), autograd::gradient_edge(x));
  (linked * 3).sum().backward();
  expect_values(x.grad(), {3, 3});
}

TEST(Nodes, UndefinedGradStopsGradients) {
  const Tensor x = leaf({1, 2});
  const Tensor y = autograd::UndefinedGrad().apply({x})[0];
  expect_values(y, {1, 2});
  EXPECT_EQ(y.grad_fn()->name(), "UndefinedGradBackward");
  (y * 3).sum().backward();
  EXPECT_FALSE(x.grad().defined());
}

}  // namespace
}  // namespace hearth::testing
