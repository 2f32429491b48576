// Forward-mode differentiation. tests/ops/op_gradients.cpp compares the tangents of every op with
// finite differences.
#include "hearth/autograd/forward_ad.h"

#include <cmath>
#include <thread>

#include "hearth/autograd_hooks.h"
#include "hearth/custom_function.h"
#include "hearth/nn.h"
#include "hearth/optim/sgd.h"
#include "hearth/tensor_literal.h"
#include "tests/autograd/support.h"

namespace hearth::testing {
namespace {

using autograd::forward_ad::DualLevel;
using autograd::forward_ad::make_dual;
using autograd::forward_ad::unpack_dual;

Tensor tangent_of(const Tensor& tensor) { return unpack_dual(tensor).tangent; }

/// A dual tensor with the value {1, 2, 3} and the tangent {1, 0.5, -1}.
Tensor dual() { return make_dual(vec({1, 2, 3}), vec({1, 0.5, -1})); }

TEST(ForwardAd, UnpacksValueAndTangent) {
  const DualLevel level;
  const Tensor x = vec({1, 2, 3}), t = vec({1, 0.5, -1});
  const auto [primal, tangent] = unpack_dual(make_dual(x, t));
  expect_values(primal, {1, 2, 3});
  EXPECT_TRUE(tangent.is_same(t));
  EXPECT_FALSE(tangent_of(primal).defined());
  EXPECT_FALSE(tangent_of(x).defined());
  EXPECT_FALSE(tangent_of(dual().detach()).defined());
}

TEST(ForwardAd, IgnoresGradModeAndObeysItsOwn) {
  const DualLevel level;
  const Tensor x = dual();
  {
    const NoGradGuard off;
    expect_values(tangent_of(x * 2), {2, 1, -2});
  }
  {
    const AutoFwGradMode off(false);
    EXPECT_FALSE(tangent_of(x * 2).defined());
  }
  const InferenceMode inference;
  EXPECT_FALSE(tangent_of(x * 2).defined());
}

TEST(ForwardAd, EndsWithTheLevel) {
  Tensor x;
  {
    const DualLevel level;
    x = dual() * 2;
  }
  EXPECT_FALSE(tangent_of(x).defined());
  const DualLevel next;
  EXPECT_FALSE(tangent_of(x).defined());
  EXPECT_FALSE(tangent_of(x * 3).defined());
}

TEST(ForwardAd, ResultsDoNotShareTangents) {
  const DualLevel level;
  const Tensor x = dual();
  Tensor y = x + 1;
  y.mul_(3);
  expect_values(tangent_of(x), {1, 0.5, -1});
  expect_values(tangent_of(y), {3, 1.5, -3});
}

TEST(ForwardAd, OverwrittenInputIsReadBefore) {
  const DualLevel level;
  Tensor x = make_dual(vec({1, 2, 3}), vec({1, 0.5, -1}));
  x.mul_(x);
  expect_values(tangent_of(x), {2, 2, -6});
  x.zero_();
  expect_values(tangent_of(x), {0, 0, 0});
}

TEST(ForwardAd, WritesToViewsReachTheBaseAndItsViews) {
  const DualLevel level;
  const Tensor base = zeros({2, 3});
  const Tensor flat = base.view({-1});
  base[1].copy_(dual());
  expect_values(tangent_of(base), {0, 0, 0, 1, 0.5, -1});
  expect_values(tangent_of(flat), {0, 0, 0, 1, 0.5, -1});
  expect_values(tangent_of(flat * 2), {0, 0, 0, 2, 1, -2});
  base.mul_(2);
  expect_values(tangent_of(flat), {0, 0, 0, 2, 1, -2});
}

TEST(ForwardAd, ViewsOfDualsShareTheirTangents) {
  const DualLevel level;
  const Tensor x = make_dual(arange(6, kFloat).view({2, 3}), ones({2, 3}));
  const Tensor row = x.t().select(1, 1);
  expect_values(tangent_of(row), {1, 1, 1});
  row.mul_(5);
  expect_values(tangent_of(x), {1, 1, 1, 5, 5, 5});
}

TEST(ForwardAd, TangentsOfGradients) {
  const Tensor x = leaf({1, 2, 3});
  const DualLevel level;
  const Tensor d = make_dual(x, vec({1, 0.5, -1}));
  for (const bool create_graph : {false, true}) {
    const Tensor g = autograd::grad({(d.pow(3) + d.exp()).sum()}, {x}, {}, {}, create_graph)[0];
    // (6 x + exp(x)) t
    expect_values(tangent_of(g), {6 + std::exp(1), 6 + 0.5 * std::exp(2), -18 - std::exp(3)}, 1e-4);
  }
}

TEST(ForwardAd, GradientsOfTangents) {
  const Tensor x = leaf({1, 2, 3}), t = leaf({1, 0.5, -1});
  const DualLevel level;
  const Tensor slope = tangent_of(make_dual(x, t).pow(3).sum());
  const auto grads = autograd::grad({slope}, {x, t});
  expect_values(grads[0], {6, 6, -18});  // 6 x t
  expect_values(grads[1], {3, 12, 27});  // 3 x^2
}

TEST(ForwardAd, SavedTensorHooksKeepTangents) {
  const Tensor x = leaf({1, 2, 3});
  const DualLevel level;
  const autograd::graph::save_on_cpu on_cpu;
  const Tensor d = make_dual(x, vec({1, 0.5, -1}));
  const Tensor g = autograd::grad({d.pow(3).sum()}, {x})[0];
  expect_values(tangent_of(g), {6, 6, -18});
}

TEST(ForwardAd, ComplexNumbers) {
  const DualLevel level;
  const Tensor x = vec({1, 2, 3}), t = vec({1, 0.5, -1});
  const Tensor z =
      make_dual(view_as_complex(stack({x, t}, -1)), view_as_complex(stack({t, x}, -1)));
  expect_values(tangent_of(abs(z)), {std::sqrt(2), 2 / std::sqrt(4.25), -6 / std::sqrt(10)});
  expect_values(real(tangent_of(z * z)), {0, 0, 0});
  expect_values(imag(tangent_of(z * z)), {4, 8.5, 20});
  expect_values(imag(tangent_of(conj(z))), {-1, -2, -3});
  // Multiplication by a number, an op that is not analytic, and a real base.
  const Scalar number = complex<double>(0, 2);
  expect_values(real(tangent_of(z * number)), {-2, -4, -6});
  expect_values(imag(tangent_of(z * number)), {2, 1, -2});
  expect_values(real(tangent_of(sgn(z))), {0, -0.2140021, 0.2529822}, 1e-5);
  expect_values(imag(tangent_of(sgn(z))), {0, 0.8560081, 0.7589466}, 1e-5);
  expect_values(real(tangent_of(pow(2, z))), {0.1806032, -0.5797018, 6.3638940}, 1e-4);
  expect_values(tangent_of(real(z)), {1, 0.5, -1});
}

TEST(ForwardAd, PassesThroughModules) {
  nn::Sequential net(nn::Conv1d(2, 3, 3), nn::BatchNorm1d(3), nn::Tanh(), nn::Flatten(),
                     nn::Linear(9, 1));
  net->to(kDouble);
  net->eval();
  const Tensor x = arange(10, kDouble).sin().view({1, 2, 5}),
               t = arange(10, kDouble).cos().view({1, 2, 5});
  const NoGradGuard off;
  const DualLevel level;
  const double tangent = tangent_of(net->forward(make_dual(x, t))).item<double>();
  const double above = net->forward(x + t * 1e-5).item<double>();
  const double below = net->forward(x - t * 1e-5).item<double>();
  EXPECT_NEAR(tangent, (above - below) / 2e-5, 1e-8);
}

TEST(ForwardAd, OnSimulatedGpus) {
  if (cuda::device_count() == 0) GTEST_SKIP() << "no GPU";
  const DualLevel level;
  const Tensor x = make_dual(vec({1, 2, 3}).cuda(), vec({1, 0.5, -1}).cuda());
  expect_values(tangent_of(x * x), {2, 2, -6});
  expect_values(tangent_of(softmax(x.cpu(), 0).cuda()), values_of(tangent_of(softmax(x, 0))));
}

TEST(ForwardAd, ReachesOtherThreads) {
  const DualLevel level;
  const Tensor x = dual();
  Tensor product;
  std::thread([&] { product = x * 2; }).join();
  expect_values(tangent_of(product), {2, 1, -2});
}

TEST(ForwardAd, CopiesDoNotShareTangents) {
  const DualLevel level;
  const Tensor x = dual();
  Tensor y = zeros({3});
  y.copy_(x);
  y.mul_(3);
  expect_values(tangent_of(x), {1, 0.5, -1});
  y.zero_();
  expect_values(tangent_of(x), {1, 0.5, -1});
}

TEST(ForwardAd, FollowsChangesOfTheShape) {
  const DualLevel level;
  const Tensor values = arange(4, kFloat).view({2, 2});
  const Tensor x = make_dual(values, values) * 1;
  x.t_();
  expect_values(tangent_of(x * 1), {0, 2, 1, 3});
  x.unsqueeze_(0);
  expect_values(tangent_of(x * 1), {0, 2, 1, 3});
  const Tensor y = dual() * 1;
  EXPECT_ERROR(y.resize_({4}), "cannot resize variables that has a forward grad");
  EXPECT_ERROR(y.set_(vec({1})), "Trying to use forward AD with set_ that does not support it");
  y.detach_();
  EXPECT_FALSE(tangent_of(y * 1).defined());
}

TEST(ForwardAd, HessianProductsOfLinearAlgebra) {
  const Tensor q = vec({2, 1, 1, 3}).view({2, 2}).requires_grad_();
  const DualLevel level;
  const Tensor d = make_dual(q, ones({2, 2}));
  const auto product = [&](const Tensor& y) { return tangent_of(autograd::grad({y}, {q})[0]); };
  expect_values(product(linalg_inv(d).sum()), {0.192, 0.096, 0.096, 0.048});     // PyTorch's
  expect_values(product(linalg_det(d).mul(linalg_det(d))), {28, -16, -16, 22});  // by hand
}

TEST(ForwardAd, LinearOpsWhoseGradientIgnoresRows) {
  const DualLevel level;
  const Tensor weight = make_dual(zeros({3, 1}), ones({3, 1})), indices = tensor({0, 2, 0}, kLong);
  expect_values(tangent_of(embedding(weight, indices, 0)), {1, 1, 1});
  expect_values(tangent_of(embedding(weight, indices, -1, true)), {1, 1, 1});
}

TEST(ForwardAd, GradientsOfTangentsHaveNoTangent) {
  const Tensor x = leaf({1, 2});
  const DualLevel level;
  const Tensor d = make_dual(x, vec({1, 3}));
  const Tensor g = autograd::grad({tangent_of(d.pow(3).sum())}, {x})[0];
  EXPECT_FALSE(tangent_of(g).defined());
  expect_values(tangent_of(d * g), {6, 108});
}

TEST(ForwardAd, PackedTangentsEndWithTheLevel) {
  const Tensor x = leaf({1, 2, 3});
  Tensor y;
  {
    const DualLevel level;
    const autograd::graph::save_on_cpu on_cpu;
    y = make_dual(x, vec({1, 1, 1})).pow(3).sum();
  }
  const DualLevel next;
  EXPECT_FALSE(tangent_of(autograd::grad({y}, {x})[0]).defined());
}

TEST(ForwardAd, ComplexViewsOfRealBases) {
  const DualLevel level;
  const Tensor base = zeros({6}), view = view_as_complex(base.view({3, 2}));
  base.copy_(make_dual(arange(6, kFloat), arange(100, kFloat).slice(0, 6, 12).detach()));
  expect_values(view_as_real(tangent_of(view)), {6, 7, 8, 9, 10, 11});
}

TEST(ForwardAd, GapsBetweenElementsHaveZeroTangents) {
  const DualLevel level;
  const Tensor x = make_dual(arange(8, kFloat).slice(0, 0, 8, 2), vec({20, 21, 22, 23}));
  expect_values(tangent_of(x.as_strided({8}, {1})), {20, 0, 21, 0, 22, 0, 23, 0});
}

TEST(ForwardAd, ViewsAndGradientsOnOtherThreads) {
  const Tensor leaf_x = leaf({1, 2, 3});
  const DualLevel level;
  const Tensor base = zeros({3}), view = base.view({3, 1});
  base.copy_(dual());
  const Tensor y = make_dual(leaf_x, vec({1, 0.5, -1})).sigmoid().sum();
  Tensor product, gradient;
  std::thread([&] {
    product = view * 2;
    gradient = autograd::grad({y}, {leaf_x})[0];
  }).join();
  expect_values(tangent_of(product), {2, 1, -2});
  const Tensor s = leaf_x.detach().sigmoid();
  expect_values(tangent_of(gradient), values_of(s * (1 - s) * (1 - 2 * s) * vec({1, 0.5, -1})));
}

struct Doubled : autograd::Function<Doubled> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x * 2; }
  static variable_list backward(autograd::AutogradContext*, variable_list grads) {
    return {grads[0] * 2};
  }
};

TEST(ForwardAd, RefusesWrongUse) {
  const Tensor x = vec({1, 2, 3}), t = vec({1, 0.5, -1});
  EXPECT_ERROR(make_dual(x, t),
               "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
               "enter_dual_level() first.");
  EXPECT_ERROR(_make_dual(x, t, 0), "Trying to access a forward AD level with an invalid index");
  EXPECT_ERROR(autograd::forward_ad::exit_dual_level(0),
               "Exiting a forward AD level that is not the last that was created");
  const DualLevel level;
  EXPECT_ERROR(autograd::forward_ad::enter_dual_level(),
               "Nested forward mode AD is not supported at the moment");
  EXPECT_ERROR(make_dual(dual(), t), "already has a forward gradient at the same level 0");
  EXPECT_ERROR(make_dual(x, vec({1})),
               "Tensor is of size [3] while the given forward gradient is of size [1].");
  EXPECT_ERROR(make_dual(arange(3), t),
               "Expected primal to be floating point or complex, but got: torch.int64");
  EXPECT_ERROR(make_dual(x, arange(3)),
               "Expected tangent to be floating point or complex, but got: torch.int64");
  Tensor out = empty({3});
  EXPECT_ERROR(add_out(out, dual(), x),
               "Trying to use forward AD with add_out that does not "
               "support it because it is an out= function");
  EXPECT_ERROR(Doubled::apply(dual()),
               "jvp is not implemented for the c++ API of custom Function yet.");
  EXPECT_ERROR(make_dual(x, dual()), "Setting a forward grad that itself has a forward gradient");
  optim::SGD optimizer({leaf({1, 2, 3})}, optim::SGDOptions(0.1));
  optimizer.param_groups()[0].params()[0].mutable_grad() = dual();
  EXPECT_ERROR(optimizer.step(), "Trying to use forward AD with _fused_sgd_");
  EXPECT_ERROR(_make_dual(Tensor(), t, 0), "one of them is undefined");
}

}  // namespace
}  // namespace hearth::testing
