// Hooks registered while backward runs, and the node names in error messages.
#include <stdexcept>
#include <thread>

#include "hearth/autograd_hooks.h"
#include "hearth/custom_function.h"
#include "hearth/indexing.h"
#include "tests/autograd/support.h"

namespace hearth::testing {
namespace {

TEST(HookLists, AcceptHooksFromHooksOfSiblingOutputs) {
  const Tensor x = leaf({1, 2, 3, 4});
  const std::vector<Tensor> parts = x.split(1);
  int calls = 0;
  bool was_registered = false;
  parts[0].register_hook([&](const Tensor&) {
    if (std::exchange(was_registered, true)) return;
    for (int i = 1; i < 4; ++i)  // on the running node
      for (int k = 0; k < 50; ++k) parts[size_t(i)].register_hook([&](const Tensor&) { ++calls; });
  });
  cat(parts).sum().backward({}, true);
  EXPECT_EQ(calls, 0);  // the running pass uses a copy of the list
  cat(parts).sum().backward({}, true);
  EXPECT_EQ(calls, 150);
}

TEST(HookLists, AcceptNodeHooksFromHooks) {
  const Tensor x = leaf({1});
  const Tensor y = x * 2;
  const autograd::NodePtr node = y.grad_fn();
  int before = 0, after = 0;
  node->add_pre_hook([&](const variable_list& grads) {
    for (int i = 0; i < 50; ++i)
      node->add_pre_hook([&](const variable_list& g) { return ++before, g; });
    return grads;
  });
  node->add_post_hook([&](const variable_list& outputs, const variable_list&) {
    for (int i = 0; i < 50; ++i)
      node->add_post_hook([&](const variable_list& o, const variable_list&) { return ++after, o; });
    return outputs;
  });
  y.backward({}, true);
  EXPECT_EQ(before + after, 0);
  y.backward();
  EXPECT_EQ(before, 50);
  EXPECT_EQ(after, 50);
}

TEST(HookLists, AcceptAccumulatorHooksFromPostAccumulateHooks) {
  const Tensor x = leaf({1});
  const autograd::NodePtr accumulator = autograd::gradient_edge(x).function;
  int calls = 0;
  autograd::register_post_accumulate_grad_hook(x, [&](const Tensor&) {
    accumulator->add_post_hook(
        [&](const variable_list& outputs, const variable_list&) { return ++calls, outputs; });
  });
  (x * 2).backward();
  (x * 2).backward();
  EXPECT_GE(calls, 1);
}

TEST(HookLists, AcceptHooksFromOtherThreadsDuringBackward) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  const autograd::NodePtr node = y.grad_fn();
  std::thread adder([&] {
    for (int i = 0; i < 100; ++i) {
      y.register_hook([](const Tensor&) {});
      node->add_pre_hook([](const variable_list& grads) { return grads; });
    }
  });
  for (int i = 0; i < 100; ++i) y.sum().backward({}, true);
  adder.join();
  EXPECT_EQ(y.register_hook([](const Tensor&) {}), 100U);
}

TEST(Errors, InHooksNameTheNode) {
  const Tensor x = leaf({1, 2}), y = x.exp();
  y.register_hook([](const Tensor&) -> Tensor { throw Error("what the hook says"); });
  EXPECT_ERROR(y.sum().backward(), "what the hook says\nin the backward of ExpBackward0");
  const Tensor z = leaf({1});
  z.register_hook([](const Tensor&) -> Tensor { throw ValueError("on a leaf"); });
  try {
    (z * 2).backward();
    ADD_FAILURE() << "no error";
  } catch (const ValueError& error) {
    EXPECT_STREQ(error.what(), "on a leaf\nin the backward of torch::autograd::AccumulateGrad");
  }
}

TEST(Errors, OfForeignTypesAreNotChanged) {
  const Tensor x = leaf({1}), y = x * 2;
  y.register_hook([](const Tensor&) -> Tensor { throw std::out_of_range("the user's own"); });
  EXPECT_THROW(y.backward(), std::out_of_range);
}

struct Fails : autograd::Function<Fails> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& a, double factor) {
    return a * factor;
  }
  static variable_list backward(autograd::AutogradContext*, variable_list grads) {
    HEARTH_CHECK(grads[0].numel() != 2, "two is too much");
    return {grads[0], grads[0]};
  }
};

TEST(Errors, InCustomFunctionsNameTheFunction) {
  EXPECT_ERROR(Fails::apply(leaf({1, 2}), 3.0).sum().backward(),
               "two is too much\nin the backward of ");
  EXPECT_ERROR(Fails::apply(leaf({1, 2}), 3.0).sum().backward(), "Fails");
  EXPECT_ERROR(Fails::apply(leaf({1}), 3.0).backward(),
               "returned a gradient different that is defined at position 2, but the corresponding "
               "forward input was not a Variable");
}

struct FailsInNestedBackward : autograd::Function<FailsInNestedBackward> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& a) { return a * 1; }
  static variable_list backward(autograd::AutogradContext*, variable_list grads) {
    const AutoGradMode on(true);
    const Tensor x = leaf({1}), y = x.sin();
    y.register_hook([](const Tensor&) -> Tensor { throw Error("deep inside"); });
    y.backward();
    return grads;
  }
};

TEST(Errors, InNestedBackwardNameTheInnerNode) {
  try {
    FailsInNestedBackward::apply(leaf({1})).backward();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "deep inside\nin the backward of SinBackward0");
  }
}

TEST(Anomaly, ReportsInplaceWritesToViews) {
  const autograd::DetectAnomalyGuard anomaly;
  const Warnings warnings;
  const Tensor x = leaf({4, 0});
  const Tensor y = x * 1;
  y.slice(0, 1, 2).sqrt_();  // the derivative at 0 is infinite; times 0 it is NaN
  EXPECT_ERROR((y * vec({1, 0})).sum().backward(), "returned nan values in its 0th output.");
  EXPECT_TRUE(Warnings::contains(
      "Error detected in torch::autograd::CopySlices. Traceback of forward call that"));
  EXPECT_FALSE(Warnings::contains("No forward pass information available"));
}

}  // namespace
}  // namespace hearth::testing
