#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

// Autograd and autocast as LibTorch programs use them, with code of the autograd tutorial.

using torch::autograd::variable_list;

TEST(Autograd, TutorialsFirstStepsWork) {
  const auto x = torch::ones({2, 2}, torch::requires_grad());
  const auto y = x + 2;
  EXPECT_EQ(y.grad_fn()->name().rfind("AddBackward", 0), 0U);
  const auto out = (y * y * 3).mean();
  EXPECT_EQ(out.grad_fn()->name(), "MeanBackward0");
  out.backward();
  EXPECT_TRUE(torch::equal(x.grad(), torch::full({2, 2}, 4.5)));

  auto a = torch::randn({2, 2});
  a = ((a * 3) / (a - 1));
  EXPECT_FALSE(a.requires_grad());
  a.requires_grad_(true);
  EXPECT_EQ((a * a).sum().grad_fn()->name(), "SumBackward0");
  EXPECT_EQ((a * a).grad_fn()->next_edges().size(), 2U);
}

TEST(Autograd, NonScalarOutputsNeedAGradient) {
  const auto x = torch::ones({3}, torch::requires_grad());
  auto y = x * 2;
  while (y.sum().item<double>() < 1000) y = y * 2;
  y.backward(torch::tensor({0.1, 1.0, 0.0001}, torch::kFloat));
  EXPECT_TRUE(torch::allclose(x.grad(), torch::tensor({51.2, 512.0, 0.0512})));
  EXPECT_THROW((x * 2).backward(), c10::Error);
}

TEST(Autograd, GuardsStopRecording) {
  const auto x = torch::ones({1}, torch::requires_grad());
  {
    torch::NoGradGuard no_grad;
    EXPECT_FALSE(x.pow(2).requires_grad());
    torch::AutoGradMode with_grad(true);
    EXPECT_TRUE(x.pow(2).requires_grad());
  }
  EXPECT_TRUE(torch::autograd::GradMode::is_enabled());
  c10::InferenceMode inference;
  EXPECT_TRUE(torch::ones({1}).is_inference());
  EXPECT_FALSE(x.detach().requires_grad());
}

TEST(Autograd, SupportsHigherOrderGradients) {
  const auto x = torch::tensor({2.0}, torch::requires_grad());
  const auto first = torch::autograd::grad({x.pow(3).sum()}, {x}, {}, /*retain_graph=*/{},
                                           /*create_graph=*/true)[0];
  EXPECT_EQ(first.item<float>(), 12);
  const variable_list second = torch::autograd::grad({first}, {x}, {torch::ones_like(first)});
  EXPECT_EQ(second[0].item<float>(), 12);
}

TEST(Autograd, BackwardAcceptsSeveralTensors) {
  const auto x = torch::ones({2}, torch::requires_grad());
  torch::autograd::backward({(x * 2).sum(), (x * 3).sum()}, {});
  EXPECT_EQ(x.grad()[0].item<float>(), 5);
  const auto y = (x * x).sum();
  y.backward({}, /*keep_graph=*/true);
  y.backward();
  EXPECT_EQ(x.grad()[1].item<float>(), 9);
  x.mutable_grad() = torch::Tensor();
  EXPECT_FALSE(x.grad().defined());
}

TEST(Autograd, HooksSeeAndReplaceGradients) {
  const auto x = torch::ones({2}, torch::requires_grad());
  const auto y = x * 3;
  int calls = 0;
  y.register_hook([&](torch::Tensor grad) {
    ++calls;
    EXPECT_EQ(grad.sum().item<float>(), 2);
  });
  const auto index = x.register_hook([](const torch::Tensor& grad) { return grad * 10; });
  y.sum().backward();
  EXPECT_EQ(x.grad()[0].item<float>(), 30);
  x.remove_hook(index);
  (x * 2).sum().backward();
  EXPECT_EQ(x.grad()[0].item<float>(), 32);
  EXPECT_EQ(calls, 1);
}

TEST(Autograd, RetainsGradientsOfIntermediates) {
  const auto x = torch::ones({2}, torch::requires_grad());
  const auto y = x * 3;
  y.retain_grad();
  EXPECT_TRUE(y.retains_grad() && !y.is_leaf() && x.is_leaf());
  (y * y).sum().backward();
  EXPECT_EQ(y.grad()[1].item<float>(), 6);
}

TEST(Autograd, UpdateThroughDataKeepsTheVersion) {
  const auto x = torch::ones({2}, torch::requires_grad());
  const auto y = (x * x).sum();
  const auto version = x._version();
  x.data().add_(1);
  EXPECT_EQ(x._version(), version);
  y.backward();
  EXPECT_EQ(x.grad()[0].item<float>(), 4);
}

TEST(Autograd, GradientDescentConverges) {
  torch::manual_seed(1);
  auto w = torch::randn({3, 1}, torch::requires_grad());
  const auto inputs = torch::randn({16, 3});
  const auto targets = torch::mm(inputs, torch::tensor({{1.0}, {-2.0}, {0.5}}));
  for (int step = 0; step < 300; ++step) {
    const auto error = torch::mm(inputs, w) - targets;
    (error * error).mean().backward();
    torch::NoGradGuard guard;
    w -= 0.1 * w.grad();
    w.mutable_grad().zero_();
  }
  EXPECT_NEAR(w[1].item<float>(), -2, 1e-3);
}

TEST(Autograd, AutocastFunctionsWork) {
  const auto w = torch::ones({2, 2}, torch::requires_grad());
  const auto x = torch::ones({2, 2});
  EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
  EXPECT_EQ(at::autocast::get_autocast_dtype(at::kCPU), at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  at::autocast::increment_nesting();
  const auto product = torch::mm(x, w);
  EXPECT_EQ(product.scalar_type(), torch::kBFloat16);
  EXPECT_EQ(torch::exp(x).scalar_type(), torch::kFloat);
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCPU, false);
  product.sum().backward();
  EXPECT_TRUE(torch::equal(w.grad(), torch::full({2, 2}, 2.0)));
}
