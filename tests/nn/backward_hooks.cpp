// Backward hooks of modules: the gradients that they see and replace, their order, and misuse. The
// numbers are PyTorch's.
#include <cmath>
#include <sstream>

#include "hearth/autograd.h"
#include "hearth/nn.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/nn/support.h"
#include "tests/support/devices.h"
#include "tests/support/warnings.h"

namespace {

using namespace hearth;
using namespace hearth::nn;
using hearth::testing::contains;
using hearth::testing::error_of;
using hearth::testing::Warnings;
using Gradients = std::vector<Tensor>;
using Lines = std::vector<std::string>;

/// Formats gradients: "[3, 4] none" for a vector and an undefined gradient.
std::string text(const Gradients& gradients) {
  std::ostringstream out;
  for (const Tensor& grad : gradients) {
    if (&grad != &gradients.front()) out << ' ';
    if (!grad.defined()) {
      out << "none";
      continue;
    }
    const Tensor flat = grad.reshape({-1}).to(kDouble);
    for (int64_t i = 0; i < flat.numel(); ++i)
      out << (i ? ", " : "[") << std::round(flat[i].item<double>() * 1e4) / 1e4;
    out << ']';
  }
  return out.str();
}

/// A hook that appends "name: grad_input <- grad_output" to `lines`.
BackwardHook writer(Lines& lines, const std::string& name) {
  return [&lines, name](Module&, const Gradients& inputs, const Gradients& outputs) {
    lines.push_back(name + ": " + text(inputs) + " <- " + text(outputs));
  };
}
BackwardPreHook pre_writer(Lines& lines, const std::string& name) {
  return [&lines, name](Module&, const Gradients& outputs) {
    lines.push_back(name + ": " + text(outputs));
  };
}

/// A module whose forward() calls a function.
template <class Result, class... Args>
struct CallImpl : Module {
  explicit CallImpl(std::function<Result(Args...)> f) : function(std::move(f)) {}
  Result forward(Args... args) { return function(args...); }
  std::function<Result(Args...)> function;
};
template <class Result, class... Args>
ModuleHolder<CallImpl<Result, Args...>> module_of(Result (*function)(Args...)) {
  return ModuleHolder<CallImpl<Result, Args...>>(
      std::make_shared<CallImpl<Result, Args...>>(function));
}

Tensor leaf(std::vector<float> values) { return tensor(values).requires_grad_(); }
Tensor cube(Tensor x) { return x * x * x; }

using Pair = std::tuple<Tensor, Tensor, int>;
Pair two_results(Tensor a, Tensor b, std::optional<Tensor> c) {
  return {a * b, c ? a + *c : a + 1, 3};
}

TEST(BackwardHooks, SeeTheGradientsOfAllArgumentsAndResults) {
  Lines lines;
  const auto module = module_of(two_results);
  const auto run = [&](const Tensor& a, const Tensor& b, const std::optional<Tensor>& c,
                       bool uses_first, bool uses_second) {
    lines.clear();
    auto holder = module;
    const auto [x, y, number] = holder(a, b, c);
    EXPECT_EQ(number, 3);
    (uses_first && uses_second ? x + y : uses_first ? x : y).sum().backward();
    return lines.size() == 1 ? lines[0] : "called " + std::to_string(lines.size()) + " times";
  };
  module.ptr()->register_full_backward_hook(writer(lines, "f"));
  const Tensor a = leaf({1, 2}), b = tensor({3.f, 4.f}), c = tensor({1, 1});
  // A tensor that needs no gradient has zeros, as in PyTorch.
  EXPECT_EQ(run(a, b, {}, true, false), "f: [3, 4] [0, 0] none <- [1, 1] none none");
  EXPECT_EQ(run(a, leaf({3, 4}), {}, false, true), "f: [1, 1] [0, 0] none <- none [1, 1] none");
  EXPECT_EQ(run(a, leaf({3, 4}), c, true, true), "f: [4, 5] [1, 2] [0, 0] <- [1, 1] [1, 1] none");
  EXPECT_EQ(text({a.grad()}), "[8, 10]");
}

TEST(BackwardHooks, SeeNestedTuplesAndRunInAnyModule) {
  Lines lines;
  const auto sizes = [&](Module&, const Gradients& inputs, const Gradients& outputs) {
    std::ostringstream line;
    for (const auto& list : {inputs, outputs})
      for (const Tensor& grad : list)
        line << (grad.defined() ? hearth::detail::str(grad.sizes()) : "none");
    lines.push_back(line.str());
  };
  LSTM lstm(2, 3);
  lstm->register_full_backward_hook(sizes);
  const Tensor h = zeros({1, 1, 3}).requires_grad_();
  const auto [output, state] = lstm(ones({4, 1, 2}).requires_grad_(), std::make_tuple(h, h));
  (output.sum() + std::get<0>(state).sum()).backward();
  MultiheadAttention attention(4, 2);
  attention->register_full_backward_hook(sizes);
  const Tensor x = ones({3, 1, 4}).requires_grad_();
  std::get<0>(attention(x, x, x)).sum().backward();
  AnyModule any(Linear(2, 1));
  any.ptr()->register_full_backward_hook(sizes);
  any.forward(ones({1, 2}).requires_grad_()).sum().backward();
  EXPECT_EQ(lines, (Lines{"[4, 1, 2]none[4, 1, 3]none", "[3, 1, 4][3, 1, 4][3, 1, 4][3, 1, 4]none",
                          "[1, 2][1, 1]"}));
}

/// Linear(2, 2), Tanh, Linear(2, 1) with hooks on all modules and parameters.
struct Nested {
  Nested() {
    const NoGradGuard no_grad;
    Linear first(2, 2), last(2, 1);
    first->weight.copy_(tensor({{1.f, 2.f}, {3.f, 4.f}}));
    first->bias.copy_(tensor({1.f, -1.f}));
    last->weight.copy_(tensor({{2.f, -1.f}}));
    last->bias.zero_();
    net = Sequential(first, Tanh(), last);
    watch(*net, "net");
    for (size_t i = 0; i < 3; ++i) watch(*net->ptr(i), std::to_string(i));
    for (const auto& item : net->named_parameters())
      item.value().register_hook([this, name = item.key()](const Tensor& grad) {
        lines.push_back(name + ": " + text({grad}));
      });
  }
  void watch(Module& module, const std::string& name) {
    module.register_full_backward_hook(writer(lines, name));
    module.register_full_backward_pre_hook(pre_writer(lines, name + " pre"));
  }
  Lines lines;
  Sequential net{nullptr};
};

TEST(BackwardHooks, RunInTheOrderOfThePass) {
  Nested nested;
  Tensor x = tensor({{.1f, -.2f}}).requires_grad_();
  x.register_hook([&](const Tensor& grad) { nested.lines.push_back("x: " + text({grad})); });
  nested.net->forward(x).sum().backward();
  EXPECT_EQ(nested.lines,
            (Lines{"net pre: [1]", "2 pre: [1]", "2.bias: [1]", "2.weight: [0.6044, -0.9051]",
                   "2: [2, -1] <- [1]", "1 pre: [2, -1]", "1: [1.2695, -0.1807] <- [2, -1]",
                   "0 pre: [1.2695, -0.1807]", "0.bias: [1.2695, -0.1807]",
                   "0.weight: [0.1269, -0.2539, -0.0181, 0.0361]",
                   "0: [0.7274, 1.8161] <- [1.2695, -0.1807]", "net: [0.7274, 1.8161] <- [1]",
                   "x: [0.7274, 1.8161]"}));
}

TEST(BackwardHooks, RunWithTheResultsIfNoArgumentNeedsAGradient) {
  Nested nested;
  const Warnings warnings;
  nested.net->forward(tensor({{.1f, -.2f}})).sum().backward();
  EXPECT_TRUE(Warnings::contains(
      "Full backward hook is firing when gradients are computed with respect to module outputs "
      "since no inputs require gradients."));
  EXPECT_EQ(nested.lines,
            (Lines{"net pre: [1]", "net: none <- [1]", "2 pre: [1]", "2.bias: [1]",
                   "2.weight: [0.6044, -0.9051]", "2: [2, -1] <- [1]", "1 pre: [2, -1]",
                   "1: [1.2695, -0.1807] <- [2, -1]", "0 pre: [1.2695, -0.1807]",
                   "0: none <- [1.2695, -0.1807]", "0.bias: [1.2695, -0.1807]",
                   "0.weight: [0.1269, -0.2539, -0.0181, 0.0361]"}));
  nested.lines.clear();
  const NoGradGuard no_grad;
  EXPECT_FALSE(nested.net->forward(ones({1, 2})).requires_grad());
  EXPECT_TRUE(nested.lines.empty());
}

Linear linear_2_to_1() {
  Linear linear(2, 1);
  const NoGradGuard no_grad;
  linear->weight.copy_(tensor({{2.f, -1.f}}));
  linear->bias.zero_();
  return linear;
}

TEST(BackwardHooks, ReplaceGradientsInOrder) {
  Lines lines;
  Linear linear = linear_2_to_1();
  linear->register_full_backward_hook(
      [](Module&, const Gradients& inputs, const Gradients&) { return Gradients{inputs[0] * 10}; });
  linear->register_full_backward_hook(writer(lines, "second"));
  linear->register_full_backward_hook(writer(lines, "first"), /*prepend=*/true);
  linear->register_full_backward_pre_hook(
      [](Module&, const Gradients& outputs) { return Gradients{outputs[0] * 3}; });
  linear->register_full_backward_pre_hook(pre_writer(lines, "last"));
  linear->register_full_backward_pre_hook(pre_writer(lines, "pre"), /*prepend=*/true);
  const Tensor x = tensor({{1.f, 2.f}}).requires_grad_();
  linear(x).sum().backward();
  EXPECT_EQ(lines,
            (Lines{"pre: [1]", "last: [3]", "first: [6, -3] <- [3]", "second: [60, -30] <- [3]"}));
  EXPECT_EQ(text({x.grad(), linear->weight.grad(), linear->bias.grad()}), "[60, -30] [3, 6] [3]");
}

TEST(BackwardHooks, MayReturnUndefinedGradients) {
  const Gradients none(1);
  Identity full, pre;
  full->register_full_backward_hook(
      [&](Module&, const Gradients&, const Gradients&) { return none; });
  pre->register_full_backward_pre_hook([&](Module&, const Gradients&) { return none; });
  const Tensor x = leaf({2});
  full(x).backward();
  EXPECT_FALSE(x.grad().defined());
  pre(x).backward();
  EXPECT_EQ(text({x.grad()}), "[0]");
}

TEST(BackwardHooks, RegisteredAtTheForwardCallAreRun) {
  Lines lines;
  Linear linear = linear_2_to_1();
  RemovableHandle handle = linear->register_full_backward_hook(writer(lines, "a"));
  const Tensor x = tensor({{1.f, 2.f}});
  Tensor y = linear(x.clone().requires_grad_());
  handle.remove();
  EXPECT_FALSE(nn::detail::ModuleCall::has_hooks(*linear));
  y.backward({}, /*retain_graph=*/true);
  y.backward();
  linear(x.clone().requires_grad_()).backward();
  EXPECT_EQ(lines.size(), 2u);
  // A clone has the hooks; the graph keeps the clone alive.
  RemovableHandle pre = linear->register_full_backward_pre_hook(pre_writer(lines, "b"));
  auto copy = std::dynamic_pointer_cast<LinearImpl>(linear->clone());
  y = copy->forward(x);
  copy.reset();
  lines.clear();
  y.backward();
  EXPECT_EQ(lines, Lines{"b: [1]"});
  pre.remove();
  EXPECT_FALSE(nn::detail::ModuleCall::has_hooks(*linear));
}

TEST(BackwardHooks, TakePartInSecondDerivatives) {
  Lines lines;
  const Tensor x = leaf({1, 2});
  auto observed = module_of(cube), doubled = module_of(cube);
  observed->register_full_backward_hook(writer(lines, "h"));
  const auto derivatives = [&](const Tensor& y) {
    lines.clear();
    const Tensor first = autograd::grad({y.sum()}, {x}, {}, true, true)[0];
    return text({first, autograd::grad({first.sum()}, {x})[0]});
  };
  // The second derivative does not pass through the module's result, so it calls no hook.
  EXPECT_EQ(derivatives(observed(x)), "[3, 12] [6, 12]");
  EXPECT_EQ(lines, Lines{"h: [3, 12] <- [1, 1]"});
  EXPECT_EQ(derivatives(observed(x).square()), "[6, 192] [30, 480]");
  EXPECT_EQ(lines, (Lines{"h: [6, 192] <- [2, 16]", "h: [30, 480] <- [6, 24]"}));
  doubled->register_full_backward_hook(
      [](Module&, const Gradients& inputs, const Gradients&) { return Gradients{inputs[0] * 2}; });
  EXPECT_EQ(derivatives(doubled(x).square()), "[12, 384] [120, 1920]");
}

TEST(BackwardHooks, RunForEachCallOfTheModule) {
  Lines lines;
  auto module = module_of(cube);
  module->register_full_backward_hook(writer(lines, "h"));
  module(module(leaf({2}))).backward();
  EXPECT_EQ(lines, (Lines{"h: [192] <- [1]", "h: [2304] <- [192]"}));
  lines.clear();
  auto product = module_of(+[](Tensor a, Tensor b) { return a * b; });
  product->register_full_backward_hook(writer(lines, "h"));
  const Tensor x = leaf({2, 3});
  product(x, x).sum().backward();
  EXPECT_EQ(lines, Lines{"h: [2, 3] [2, 3] <- [1, 1]"});
  EXPECT_EQ(text({x.grad()}), "[4, 6]");
}

TEST(BackwardHooks, SeeGradientsOfAllDevices) {
  if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU";
  const Device gpu = hearth::testing::last_gpu();
  std::vector<Device> devices;
  auto module = module_of(+[](Tensor a, Tensor b) { return a.to(b.device()) * b; });
  module->register_full_backward_hook(
      [&](Module&, const Gradients& inputs, const Gradients& outputs) {
        for (const Tensor& grad : {inputs[0], inputs[1], outputs[0]})
          devices.push_back(grad.device());
        return Gradients{inputs[0] * 2, inputs[1] * 3};
      });
  const Tensor a = leaf({2, 3}), b = leaf({4, 5}).detach().to(gpu).requires_grad_();
  module(a, b).sum().backward();
  EXPECT_EQ(devices, (std::vector<Device>{Device("cpu"), gpu, gpu}));
  EXPECT_EQ(text({a.grad(), b.grad().cpu()}), "[8, 10] [6, 9]");
}

TEST(BackwardHooks, ThatThrowEndThePass) {
  Linear linear = linear_2_to_1();
  linear->register_full_backward_hook(
      [](Module&, const Gradients&, const Gradients&) { throw std::runtime_error("boom"); });
  const Tensor x = tensor({{1.f, 2.f}}).requires_grad_();
  EXPECT_THROW(linear(x).sum().backward(), std::runtime_error);
  EXPECT_FALSE(x.grad().defined());
  EXPECT_EQ(text({linear->weight.grad()}), "[1, 2]");
}

/// The error of a pass through Linear(2, 1) whose hooks return these gradients; null: no hook.
std::string error_with(const Gradients* inputs, const Gradients* outputs, bool needs_grad = true) {
  Linear linear = linear_2_to_1();
  if (inputs)
    linear->register_full_backward_hook(
        [=](Module&, const Gradients&, const Gradients&) { return *inputs; });
  if (outputs)
    linear->register_full_backward_pre_hook([=](Module&, const Gradients&) { return *outputs; });
  return error_of([&] { linear(ones({1, 2}).requires_grad_(needs_grad)).sum().backward(); });
}

TEST(BackwardHooks, MayNotReturnMismatchedGradients) {
  const Gradients two{ones({1, 2}), ones({1, 2})}, three{ones({3})};
  const Gradients doubles{ones({1, 2}, kDouble)}, one{ones({1, 2})}, none(1);
  EXPECT_TRUE(
      contains(error_with(&two, nullptr),
               "Backward hook returned an invalid number of grad_input, got 2, but expected 1"));
  EXPECT_TRUE(contains(
      error_with(nullptr, &two),
      "Backward pre hook returned an invalid number of grad_output, got 2, but expected 1"));
  EXPECT_TRUE(contains(error_with(&three, nullptr), "hook 'hook' has changed the size of value"));
  EXPECT_TRUE(contains(error_with(nullptr, &three), "hook 'hook' has changed the size of value"));
  EXPECT_TRUE(contains(error_with(&doubles, nullptr), "hook 'hook' has changed the type of value"));
  const Warnings warnings;
  EXPECT_TRUE(contains(error_with(&one, nullptr, false),
                       "Backward hook for Modules where no input requires gradient should always "
                       "return None or None for all gradients."));
  EXPECT_EQ(error_with(&none, nullptr, false), "no error");
}

TEST(BackwardHooks, ForbidChangesInPlace) {
  const auto no_op = [](Module&, const Gradients&, const Gradients&) {};
  ReLU in_place(ReLUOptions().inplace(true)), relu;
  in_place->register_full_backward_hook(no_op);
  relu->register_full_backward_hook(no_op);
  auto add = module_of(+[](Tensor a, Tensor b) { return a.add_(b); });
  add->register_full_backward_hook(no_op);
  const Tensor x = leaf({1, 2});
  const std::string message =
      "Output 0 of BackwardHookFunctionBackward is a view and is being modified inplace. This "
      "view was created inside a custom Function";
  EXPECT_TRUE(contains(error_of([&] { in_place(x * 1); }), message));
  Tensor y = relu(x * 1);
  EXPECT_TRUE(contains(error_of([&] { y += 1; }), message));
  EXPECT_TRUE(contains(error_of([&] { add(x * 1, x * 1); }),
                       "This view is the output of a function that returns multiple views."));
  EXPECT_TRUE(contains(error_of([&] { add(ones({2}), x * 1); }), "is being modified inplace"));
}

TEST(BackwardHooks, NeedAResultOfTensors) {
  Lines lines;
  const Warnings warnings;
  const Tensor x = leaf({1, 2});
  auto list = module_of(+[](Tensor a) { return std::vector<Tensor>{a * 2, a * 3}; });
  list->register_full_backward_hook(writer(lines, "list"));
  const std::vector<Tensor> parts = list(x);
  (parts[0] + parts[1]).sum().backward();
  EXPECT_EQ(lines, Lines{"list: [5, 5] <- [1, 1] [1, 1]"});
  EXPECT_FALSE(Warnings::contains("backward"));
  auto number = module_of(+[](Tensor a) { return a.sum().item<float>(); });
  number->register_full_backward_hook(writer(lines, "number"));
  EXPECT_EQ(number(x), 3);
  EXPECT_TRUE(Warnings::contains(
      "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors "
      "but received float"));
  static Tensor kept = ones({1});
  auto reference = module_of(+[](Tensor) -> Tensor& { return kept; });
  reference->register_full_backward_hook(writer(lines, "reference"));
  EXPECT_ERROR(reference(x), "Backward hooks need a forward() that returns no reference");
}

TEST(BackwardHooks, NeedTheModule) {
  auto module = std::make_unique<LinearImpl>(2, 1);
  module->register_full_backward_hook([](Module&, const Gradients&, const Gradients&) {});
  const Tensor y = module->forward(ones({1, 2}).requires_grad_());
  module.reset();
  EXPECT_ERROR(y.sum().backward(), "A module was destroyed before the backward pass");
}

}  // namespace
