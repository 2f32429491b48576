// Histories of views after in-place writes: one node leads from a view to its base.
#include <utility>

#include "tests/autograd/support.h"
#include "tests/support/sanitizers.h"

namespace hearth::testing {
namespace {

/// The number of nodes from a tensor to its leaf, along first edges.
int depth_of(const Tensor& tensor) {
  int depth = 0;
  for (autograd::NodePtr node = tensor.grad_fn(); node; ++depth) {
    const auto& edges = node->next_edges();
    node = edges.empty() ? autograd::NodePtr() : edges[0].function;
  }
  return depth;
}

TEST(ViewHistories, GrowLinearlyInChainsWithWrites) {
  // Replaying the chain at every write would create kSteps^2 / 2 nodes.
  constexpr int kSteps = kSanitized ? 2000 : 20'000;
  const Tensor x = leaf({1}, kDouble);
  Tensor y = x.clone();
  for (int i = 0; i < kSteps; ++i) {
    y = y.view({1});
    y.mul_(1.0);
  }
  EXPECT_LE(depth_of(y), kSteps + 4);
  (y * 3).sum().backward();
  expect_values(x.grad(), {3});
}

TEST(ViewHistories, OfChainsMatchFiniteDifferences) {
  const auto base_and_view = [](const Tensor& x) {
    const Tensor base = x * 1;
    Tensor v = base.view({3, 4}).t();
    v.mul_(2);
    v = v.slice(0, 1, 4, 2);
    v.add_(base.slice(0, 0, 1));
    v = v.unsqueeze(1).transpose(0, 2)[1];
    v.mul_(v);
    return std::pair(base, v);
  };
  std::vector<double> values;
  for (int i = 0; i < 12; ++i) values.push_back(0.1 * i - 0.5);
  const Tensor x = leaf(values, kDouble);
  const auto [base, view] = base_and_view(x);
  ((base * base).sum() + (view * view.detach()).sum()).backward();
  // v * v.detach() has half the derivative of v * v.
  const auto f = [&](const Tensor& probe) {
    const auto [b, v] = base_and_view(probe);
    return (b * b).sum() + (v * v).sum() / 2;
  };
  expect_values(x.grad(), numeric_gradient(f, x), 1e-5);
}

TEST(ViewHistories, HavePyTorchsNodeNames) {
  const Tensor y = leaf({1, 2, 3, 4}) * 1;
  const Tensor v = y.view({2, 2}), w = v.t(), row = v[0];
  EXPECT_EQ(v.grad_fn()->name(), "ViewBackward0");
  w.mul_(2);
  EXPECT_EQ(w.grad_fn()->name(), "AsStridedBackward0");
  EXPECT_EQ(v.grad_fn()->name(), "AsStridedBackward0");
  EXPECT_EQ(row.grad_fn()->name(), "AsStridedBackward0");
  EXPECT_EQ(y.grad_fn()->name(), "torch::autograd::CopySlices");
}

// The expected gradients of the next four tests are PyTorch's.
TEST(ViewHistories, AreCorrectAfterTransposingTheBase) {
  const Tensor x = leaf({1, 2, 3, 4, 5, 6}).detach().view({2, 3}).requires_grad_();
  const Tensor y = x * 1, row = y[0];
  y.t_();
  row.mul_(2);
  (y * arange(6, TensorOptions(kFloat)).view({3, 2})).sum().backward();
  expect_values(x.grad(), {0, 4, 8, 1, 3, 5});
}

TEST(ViewHistories, AreCorrectAfterTransposingAndWritingTheBase) {
  const Tensor x = leaf({1, 2, 3, 4, 5, 6}).detach().view({2, 3}).requires_grad_();
  const Tensor y = x * 1, row = y[0];
  y.t_();
  y.mul_(2);
  (row * arange(3, TensorOptions(kFloat))).sum().backward();
  expect_values(x.grad(), {0, 2, 4, 0, 0, 0});
}

TEST(ViewHistories, AreCorrectAfterTransposingTheView) {
  const Tensor x = leaf({1, 2, 3, 4, 5, 6}).detach().view({2, 3}).requires_grad_();
  const Tensor y = x * 1, v = y.view({3, 2});
  v.t_();
  v.mul_(arange(6, TensorOptions(kFloat)).view({2, 3}));
  (y * 1).sum().backward();
  expect_values(x.grad(), {0, 3, 1, 4, 2, 5});
}

TEST(ViewHistories, AreCorrectForOverlappingWindows) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = x * 1, windows = y.as_strided({3, 2}, {1, 1});
  y.mul_(2);
  (windows * arange(6, TensorOptions(kFloat)).view({3, 2})).sum().backward();
  expect_values(x.grad(), {0, 6, 14, 10});
}

TEST(ViewHistories, HaveSecondDerivatives) {
  const Tensor x = leaf({1, 2, 3}, kDouble);
  const Tensor y = x * 1;
  const Tensor v = y.slice(0, 1, 3);
  y.mul_(x);  // v is x[1:]^2 now
  const Tensor dx = autograd::grad({(v * v).sum()}, {x}, {}, {}, true)[0];
  expect_values(dx, {0, 32, 108});  // 4 x^3
  dx.sum().backward();
  expect_values(x.grad(), {0, 48, 108});  // 12 x^2
}

TEST(ViewHistories, KeepRetainedGradientsAfterWritesToTheBase) {
  const Tensor y = leaf({1, 2, 3, 4}) * 1, v = y.view({2, 2});
  v.retain_grad();
  y.add_(1);
  v.sum().backward();
  expect_values(v.grad(), {1, 1, 1, 1});
  EXPECT_TRUE(v.retains_grad());
}

TEST(ViewHistories, KeepRetainedGradientsAfterWritesToTheView) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = x * 1, v = y.view({2, 2});
  v.retain_grad();
  v.mul_(3);
  (v * 2).sum().backward();
  expect_values(v.grad(), {2, 2, 2, 2});
  expect_values(x.grad(), {6, 6, 6, 6});
}

TEST(AsStrided, GradientsMatchFiniteDifferences) {
  const Tensor x = leaf({0.5, -1, 2, 0.25, 1.5, -0.75}, kDouble);
  const auto sum_of_cubes = [](const Tensor& t, IntArrayRef sizes, IntArrayRef strides,
                               int64_t offset) {
    const Tensor v = t.as_strided(sizes, strides, offset);
    return (v * v * v).sum();
  };
  struct {
    std::vector<int64_t> sizes, strides;
    int64_t offset;
  } const kCases[] = {{{2, 2}, {3, 1}, 1},      {{2, 2}, {1, 1}, 2}, {{3}, {2}, 0},
                      {{2, 3}, {0, 2}, 1},      {{0, 2}, {1, 1}, 0}, {{}, {}, 5},
                      {{1, 2, 1}, {9, 3, 7}, 2}};
  for (const auto& c : kCases) {
    x.mutable_grad().reset();
    const auto f = [&](const Tensor& t) { return sum_of_cubes(t, c.sizes, c.strides, c.offset); };
    f(x).backward();
    expect_values(x.grad(), numeric_gradient(f, x), 1e-6);
  }
}

}  // namespace
}  // namespace hearth::testing
