// The saved tensors that an op's derivative reads, and second derivatives.
#include <cmath>

#include "ops/define.h"
#include "tests/autograd/support.h"

namespace hearth::testing {
namespace {

/// An op that computes nothing, whose derivative reads a tensor that `saves` does not name.
struct Forgetful {
  struct Args {
    bool reads_output;
    HEARTH_FIELDS(reads_output)
  };
  static constexpr OpInfo info{.name = "forgetful"};
  static void infer(const Args&, InferContext& context) {
    context.set(0, context.in(0).sizes(), context.in(0).dtype);
  }
  static void launch(const Args&, LaunchContext&) {}
  static void grad(const Args& args, GradContext& context) {
    context.set(0, args.reads_output ? context.out() : context.in(0));
  }
};

TEST(Derivatives, MustReadSavedTensorsOnly) {
  const Tensor x = leaf({1, 2});
  EXPECT_ERROR(invoke<Forgetful>({false}, x).call().sum().backward(),
               "ForgetfulBackward0 reads input 0 in backward, which its `saves` does not name");
  EXPECT_ERROR(invoke<Forgetful>({true}, x).call().sum().backward(),
               "ForgetfulBackward0 reads output 0 in backward, which its `saves` does not name");
}

TEST(Derivatives, SupportLeavesFrozenAfterForward) {
  const Tensor x = leaf({1, 2, 4}, kDouble), weight = leaf({1, 3, 2}, kDouble),
               factors = vec({1, -2, 5}, kDouble);
  const auto weighted_gradient = [&](const Tensor& t) {
    const AutoGradMode on(true);
    const Tensor input = t.requires_grad() ? t : t.detach().requires_grad_();
    const Tensor y = layer_norm(input, {3}, weight).pow(3).sum();
    return (autograd::grad({y}, {input}, {}, true, true)[0] * factors).sum();
  };
  const Tensor first = weighted_gradient(x);
  weight.requires_grad_(false);
  first.backward();
  expect_values(x.grad(), numeric_gradient(weighted_gradient, x), 1e-4);
}

TEST(Derivatives, SecondOrderIsZeroForPiecewiseLinearFunctions) {
  using Function = Tensor (*)(const Tensor&);
  const auto second = [](Function f) {
    const Tensor x = leaf({-7, -0.25, 0, 0.5, 8}, kDouble);
    const Tensor first = autograd::grad({f(x).sum()}, {x}, {}, {}, true)[0];
    return autograd::grad({first.sum()}, {x}, {}, {}, {}, true)[0];
  };
  const Function kFunctions[] = {
      [](const Tensor& x) { return relu(x); },
      [](const Tensor& x) { return x.relu6(); },
      [](const Tensor& x) { return leaky_relu(x, 0.1); },
      [](const Tensor& x) { return hardtanh(x, -1, 1); },
      [](const Tensor& x) { return threshold(x, 0.1, 20); },
      [](const Tensor& x) { return abs(x); },
      [](const Tensor& x) { return norm(x, 1); },
      [](const Tensor& x) { return norm(x, INFINITY); },
      [](const Tensor& x) { return l1_loss(x, full_like(x, 0.1)); },
  };
  for (const Function f : kFunctions) expect_values(second(f), {0, 0, 0, 0, 0});
}

TEST(Derivatives, SecondOrderOfReluIsZeroForInfiniteGradients) {
  const Tensor x = leaf({-1, 2}, kDouble);
  const Tensor first = autograd::grad({relu(x)}, {x}, {vec({INFINITY, NAN}, kDouble)}, {}, true)[0];
  expect_values(autograd::grad({first.sum()}, {x})[0], {0, 0});
}

}  // namespace
}  // namespace hearth::testing
