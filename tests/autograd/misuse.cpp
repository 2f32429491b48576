// Errors on invalid use of the autograd API, and unusual use that is allowed.
#include "tests/autograd/support.h"

#include <thread>

#include "hearth/autograd_hooks.h"

namespace hearth::testing {
namespace {

TEST(UndefinedTensors, ThrowWithoutAutogradMetadata) {
  const Tensor undefined, t = ones({2});
  const char* const text = "cannot call get_autograd_meta() on undefined tensor";
  EXPECT_ERROR((void)undefined.is_leaf(), text);
  EXPECT_ERROR((void)undefined.grad(), text);
  EXPECT_ERROR((void)undefined.mutable_grad(), text);
  EXPECT_ERROR((void)undefined.grad_fn(), text);
  EXPECT_ERROR((void)undefined.output_nr(), text);
  EXPECT_ERROR((void)undefined.is_view(), text);
  EXPECT_ERROR((void)undefined._base(), text);
  EXPECT_ERROR((void)undefined.retains_grad(), text);
  EXPECT_ERROR(undefined.detach_(), text);
  EXPECT_ERROR(undefined.requires_grad_(), text);
  EXPECT_ERROR(undefined.backward(), text);
  EXPECT_ERROR((void)autograd::gradient_edge(undefined), text);
  EXPECT_ERROR((void)undefined.name(), "cannot call variable_data() on undefined tensor");
  EXPECT_ERROR((void)undefined.data(), "cannot call variable_data() on undefined tensor");
  EXPECT_ERROR((void)undefined.tensor_data(), "cannot call tensor_data() on undefined tensor");
  EXPECT_ERROR((void)undefined.detach(), "Expected a proper Tensor but got None");
  EXPECT_ERROR(undefined.remove_hook(0), "cannot call materialize_autograd_meta()");
  EXPECT_ERROR(undefined.set_data(t), "incompatible tensor type");
  EXPECT_ERROR(t.set_data(undefined), "incompatible tensor type");
  EXPECT_ERROR(autograd::remove_post_accumulate_grad_hook(undefined, 0), "no hook at position 0");
}

TEST(UndefinedTensors, AnswerSomeQueries) {
  const Tensor undefined;
  EXPECT_EQ(undefined._version(), 0);
  EXPECT_FALSE(undefined.is_inference());
  EXPECT_FALSE(undefined.requires_grad());
  EXPECT_FALSE(autograd::make_variable(undefined).defined());
  EXPECT_FALSE(autograd::make_variable(undefined, autograd::Edge()).defined());
}

TEST(Edges, MustLeadToExistingInputs) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2, z = x * 3;
  const char* const text = "takes 1 gradients, so an edge cannot lead to number 7";
  EXPECT_ERROR(autograd::make_variable(ones({2}), autograd::Edge{y.grad_fn(), 7}), text);
  z.grad_fn()->add_next_edge({y.grad_fn(), 7});
  EXPECT_ERROR(z.sum().backward(), text);
}

TEST(Edges, MustNotBeAddedDuringBackward) {
  for (const bool leads_into_the_pass : {true, false}) {
    for (const int count : {1, 1000}) {
      const Tensor a = leaf({1, 2}), y = a * 2, z = y * 3, other = leaf({1, 2}) * 5;
      z.register_hook([=](const Tensor&) {
        for (int i = 0; i < count; ++i)
          y.grad_fn()->add_next_edge({leads_into_the_pass ? a.grad_fn() : other.grad_fn(), 0});
      });
      EXPECT_ERROR(z.sum().backward(), "had 1 edges when the backward pass began, but has " +
                                           std::to_string(count + 1) +
                                           " now: a hook must not add edges");
    }
  }
}

TEST(DirectNodeCalls, CheckGradientMetadata) {
  const Tensor x = leaf({1, 2, 3, 4, 5, 6}).detach().view({3, 2}).requires_grad_();
  const Tensor normed = batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false);
  const Tensor window = x.as_strided({2, 2}, {1, 1});
  EXPECT_ERROR((*normed.grad_fn())({ones({2})}),
               "got an invalid gradient at index 0 - got [2] but expected shape [3, 2]");
  EXPECT_ERROR((*window.grad_fn())({ones({7})}), "got [7] but expected shape [2, 2]");
  EXPECT_ERROR((*window.grad_fn())({ones({2, 2}, kDouble)}), "got Double but expected dtype Float");
  EXPECT_ERROR((*window.grad_fn())({ones({2, 2}), ones({2, 2})}),
               "got an incorrect number of gradients (expected 1, got 2)");
  EXPECT_FALSE((*window.grad_fn())({})[0].defined());
  expect_values((*window.grad_fn())({ones({2, 2})})[0], {1, 2, 1, 0, 0, 0});
}

TEST(Hooks, MustKeepGradientMetadata) {
  const Tensor x = leaf({1, 2});
  const auto backward_with = [&](const Tensor& replacement) {
    const Tensor y = x * 2;
    y.register_hook([=](const Tensor&) { return replacement; });
    y.sum().backward();
  };
  EXPECT_ERROR(backward_with(ones({2}, kDouble)),
               "hook '0' has changed the type of value (was CPUFloatType got CPUDoubleType)");
  EXPECT_ERROR(backward_with(ones({3})), "hook '0' has changed the size of value");
}

TEST(Hooks, OnNodesMustKeepGradientMetadata) {
  const Tensor x = leaf({1, 2, 3, 4});
  const auto backward_with = [&](const variable_list& replacement) {
    const Tensor y = x.as_strided({2, 2}, {1, 1});
    y.grad_fn()->add_pre_hook([=](const variable_list&) { return replacement; });
    y.sum().backward();
  };
  EXPECT_ERROR(backward_with({ones({7})}), "hook '0' has changed the size of value");
  EXPECT_ERROR(backward_with({ones({2, 2}, kLong)}), "has changed the type of value");
  EXPECT_ERROR(backward_with({}),
               "has returned an incorrect number of values (got 0, but expected 1)");
  EXPECT_ERROR(backward_with({ones({2, 2}), ones({1})}), "(got 2, but expected 1)");
}

TEST(Hooks, CanBeAddedDuringBackward) {
  const Tensor x = leaf({1, 2});
  std::thread adder([&] {
    for (int i = 0; i < 200; ++i) x.register_hook([](const Tensor&) {});
  });
  for (int i = 0; i < 200; ++i) (x * 2).sum().backward();
  adder.join();
  EXPECT_EQ(x.register_hook([](const Tensor&) {}), 200U);
}

TEST(Backward, RootGradientMustBeOnTheOutputsDevice) {
  if (num_gpus() == 0) GTEST_SKIP() << "needs a GPU";
  const Tensor x = ones({2}, kCUDA).requires_grad_();
  EXPECT_ERROR((x * 2).backward(ones({2})),
               "invalid gradient at index 0 - expected device cuda:0 but got cpu");
}

}  // namespace
}  // namespace hearth::testing
