// backward() and grad(): accumulation into leaves, higher orders, errors.
#include "tests/autograd/support.h"

namespace hearth::testing {
namespace {

using autograd::backward;
using autograd::grad;

TEST(Backward, AccumulatesIntoLeaves) {
  const Tensor x = leaf({1, 2, 3});
  (x * x).sum().backward();
  expect_values(x.grad(), {2, 4, 6});
  (x * 3).sum().backward();
  expect_values(x.grad(), {5, 7, 9});
  EXPECT_FALSE(x.grad().requires_grad());
}

TEST(Backward, AgreesWithFiniteDifferences) {
  const auto f = [](const Tensor& x) {
    const Tensor m = x.view({2, 3});
    return (m.exp() * m.sin() + (m.t().matmul(m)).tanh().sum() / (1 + m * m)).mean();
  };
  const Tensor x = leaf({0.3, -1.2, 0.7, 0.1, 0.9, -0.4}, kDouble);
  f(x).backward();
  expect_values(x.grad(), numeric_gradient(f, x), 1e-8);
}

TEST(Backward, SecondDerivativeAgreesWithFiniteDifferences) {
  const auto squared_gradient_norm = [](const Tensor& x) {
    const AutoGradMode on(true);
    const Tensor v = x.requires_grad() ? x : x.detach().requires_grad_();
    const Tensor y = (v.exp() * v).tanh().sum() + (v * v * v).sum();
    const Tensor g = grad({y}, {v}, {}, {}, true)[0];
    return (g * g).sum();
  };
  const Tensor x = leaf({0.3, -0.7, 0.2}, kDouble);
  const Tensor second = grad({squared_gradient_norm(x)}, {x})[0];
  expect_values(second, numeric_gradient(squared_gradient_norm, x), 1e-6);
}

TEST(Backward, ComputesThirdDerivatives) {
  const Tensor x = leaf({2.0}, kDouble);
  Tensor y = (x * x * x).sum();
  for (int order = 0; order < 2; ++order) y = grad({y}, {x}, {}, {}, true)[0].sum();
  expect_values(y, {12});
  expect_values(grad({y}, {x})[0], {6});
}

TEST(Backward, GradDoesNotAccumulateIntoLeaves) {
  const Tensor x = leaf({1, 2}), w = leaf({3, 4});
  const variable_list grads = grad({(x * w).sum()}, {x, w});
  expect_values(grads[0], {3, 4});
  expect_values(grads[1], {1, 2});
  EXPECT_FALSE(x.grad().defined());
}

TEST(Backward, GradSupportsIntermediates) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2, z = y * y;
  const variable_list grads = grad({z.sum()}, {y, x});
  expect_values(grads[0], {4, 8});
  expect_values(grads[1], {8, 16});
}

TEST(Backward, SumsGradientsOfSeveralRoots) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2, z = y * 3;
  backward({y, z}, {vec({1, 1}), vec({1, 10})});
  expect_values(x.grad(), {8, 62});
}

TEST(Backward, CountsARepeatedRootTwice) {
  const Tensor x = leaf({1, 2});
  const Tensor y = (x * 2).sum();
  backward({y, y});
  expect_values(x.grad(), {4, 4});
}

TEST(Backward, OnALeafSetsItsGradient) {
  const Tensor x = leaf({5});
  x.backward();
  expect_values(x.grad(), {1});
}

TEST(Backward, AccumulatesIntoGivenInputsOnly) {
  const Tensor x = leaf({1, 2}), w = leaf({3, 4});
  const std::vector<Tensor> only{w};
  (x * w).sum().backward({}, {}, false, ArrayRef<Tensor>(only));
  EXPECT_FALSE(x.grad().defined());
  expect_values(w.grad(), {1, 2});
}

TEST(Backward, InputsMayBeIntermediates) {
  const Tensor x = leaf({1, 1});
  const Tensor y = x * 2;
  const std::vector<Tensor> only{y};
  (y * 3).sum().backward({}, {}, false, ArrayRef<Tensor>(only));
  expect_values(y.grad(), {3, 3});
  EXPECT_TRUE(y.retains_grad());
  EXPECT_FALSE(x.grad().defined());
}

TEST(Backward, SecondCallNeedsRetainGraph) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x.exp().sum();
  y.backward({}, true);
  y.backward();
  EXPECT_ERROR(
      y.backward(),
      "Trying to backward through the graph a second time (or directly access saved tensors after "
      "they "
      "have already been freed). Saved intermediate values of the graph are freed when you call "
      ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through "
      "the "
      "graph a second time or if you need to access saved tensors after calling backward.");
}

TEST(Backward, SecondCallWorksWithoutSavedTensors) {
  const Tensor x = leaf({1, 2});
  const Tensor y = ((x + 1) * 3 / 2).sum();
  y.backward();
  y.backward();
  expect_values(x.grad(), {3, 3});
}

TEST(Backward, UnusedInputsNeedAllowUnused) {
  const Tensor x = leaf({1}), w = leaf({1});
  const Tensor y = x * 2;
  EXPECT_ERROR(grad({y}, {w}, {}, true), "Set allow_unused=True if this is the desired behavior.");
  const variable_list grads = grad({y}, {w, x}, {}, {}, false, true);
  EXPECT_FALSE(grads[0].defined());
  expect_values(grads[1], {2});
}

TEST(Backward, RejectsInvalidCalls) {
  const Tensor x = leaf({1, 2}), constant = vec({1, 2});
  EXPECT_ERROR((x * 2).backward(), "grad can be implicitly created only for scalar outputs");
  EXPECT_ERROR(constant.sum().backward(),
               "element 0 of tensors does not require grad and does not have a grad_fn");
  EXPECT_ERROR(backward({x.sum(), constant.sum()}),
               "element 1 of tensors does not require grad and does not have a grad_fn");
  EXPECT_ERROR(grad({x.sum()}, {}), "grad requires non-empty inputs.");
  EXPECT_ERROR(grad({x.sum()}, {constant}),
               "One of the differentiated Tensors does not require grad");
  EXPECT_ERROR(grad({x.sum()}, {x, constant}),
               "element 1 of the input tensors does not require grad");
  EXPECT_ERROR((x * 2).backward(vec({1, 1, 1})),
               "invalid gradient at index 0 - got [3] but expected shape compatible with");
  EXPECT_ERROR((x * 2).requires_grad_(false),
               "you can only change requires_grad flags of leaf variables.");
  EXPECT_ERROR(ones({2}, kLong).requires_grad_(),
               "Only Tensors of floating point and complex dtype can require gradients");
  Tensor out = empty({2});
  EXPECT_ERROR(mul_out(out, x, x),
               "functions with out=... arguments don't support automatic differentiation, but "
               "one of the arguments requires grad.");
}

TEST(Backward, CreateGraphWarnsOnce) {
  const Tensor x = leaf({2});
  (x * x).sum().backward({}, {}, true);  // consumes the warning
  const Warnings warnings;
  (x * x).sum().backward({}, {}, true);
  EXPECT_FALSE(Warnings::contains("Using backward() with create_graph=True"));
  EXPECT_TRUE(x.grad().requires_grad());
  x.mutable_grad().reset();
}

TEST(Backward, EmptyInputsAreAnError) {
  const Tensor x = leaf({2});
  EXPECT_ERROR(x.sum().backward({}, {}, false, std::vector<Tensor>{}),
               "'inputs' argument to backward cannot be empty");
  EXPECT_FALSE(x.grad().defined());
  autograd::backward({x.sum()}, {}, {}, false, {});  // {} means all leaves here
  EXPECT_TRUE(x.grad().defined());
}

TEST(Backward, GradOfANonLeafWarns) {
  const Warnings warnings;
  const Tensor y = leaf({2}) * 2;
  EXPECT_FALSE(y.grad().defined());
  EXPECT_TRUE(Warnings::contains("is not a leaf"));
}

TEST(Backward, GradientsHaveTheLeafsShapeAndDtype) {
  const Tensor row = leaf({1, 2, 3}), number = scalar_tensor(2.0, kDouble).requires_grad_();
  const Tensor matrix = ones({2, 3}, kDouble);
  ((matrix * row) * number).sum().backward();
  EXPECT_EQ(row.grad().scalar_type(), kFloat);
  expect_values(row.grad(), {4, 4, 4});
  EXPECT_EQ(number.grad().dim(), 0);
  expect_values(number.grad(), {12});
}

TEST(Backward, AccumulatedGradientsAreNotShared) {
  const Tensor x = leaf({1, 2}), y = leaf({1, 2});
  const Tensor seed = vec({1, 1});
  (x + y).backward(seed);
  x.grad().fill_(7);
  expect_values(y.grad(), {1, 1});
  expect_values(seed, {1, 1});
}

TEST(Backward, DetachCutsTheGraph) {
  const Tensor x = leaf({3});
  (x * x.detach()).sum().backward();
  expect_values(x.grad(), {3});
  EXPECT_FALSE(x.detach().requires_grad());
}

}  // namespace
}  // namespace hearth::testing
