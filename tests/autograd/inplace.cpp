// In-place writes: versions, leaves, views and their bases.
#include "tests/autograd/support.h"

namespace hearth::testing {
namespace {

constexpr const char* kModified =
    "one of the variables needed for gradient computation has been modified by an inplace "
    "operation: ";

TEST(Inplace, RecordsHistory) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  y.mul_(y);
  EXPECT_EQ(y._version(), 1);
  y.sum().backward();
  expect_values(x.grad(), {8, 16});
}

TEST(Inplace, GivesConstantsAHistory) {
  const Tensor x = leaf({1, 2}), y = zeros({2});
  y.add_(x).mul_(3);
  EXPECT_TRUE(y.requires_grad());
  EXPECT_FALSE(y.is_leaf());
  y.sum().backward();
  expect_values(x.grad(), {3, 3});
}

TEST(Inplace, RejectsLeaves) {
  const Tensor x = leaf({1, 2});
  EXPECT_ERROR(x.add_(1),
               "a leaf Variable that requires grad is being used in an in-place operation.");
  EXPECT_ERROR(
      x[0].add_(1),
      "a view of a leaf Variable that requires grad is being used in an in-place operation.");
  const NoGradGuard off;
  x.add_(1);
  expect_values(x, {2, 3});
}

TEST(Inplace, OnASavedOutputIsAnError) {
  const Tensor x = ones({3, 3}).requires_grad_();
  const Tensor y = (x * 2).exp();
  y.add_(1);
  EXPECT_ERROR(y.sum().backward(),
               std::string(kModified) +
                   "[CPUFloatType [3, 3]], which is output 0 of Exp, is at "
                   "version 1; expected version 0 instead. Hint: enable anomaly detection "
                   "to find the operation that failed to compute its gradient");
}

TEST(Inplace, OnASavedIntermediateIsAnError) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2, z = (y * y).sum();
  y.add_(1);
  EXPECT_ERROR(z.backward(), std::string(kModified) +
                                 "[CPUFloatType [2]], which is output 0 of Mul1, is at version 1; "
                                 "expected version 0 instead.");
}

TEST(Inplace, OnASavedConstantIsAnError) {
  const Tensor x = leaf({1, 2}, kDouble), w = vec({1, 2}, kDouble), z = (x * w).sum();
  w.add_(1);
  EXPECT_ERROR(
      z.backward(),
      std::string(kModified) + "[CPUDoubleType [2]] is at version 1; expected version 0 instead.");
}

TEST(Inplace, PreserveVersionGuardResetsVersionsAndRejectsTemporaries) {
  using autograd::PreserveVersionGuard;
  static_assert(!std::is_constructible_v<PreserveVersionGuard, std::vector<Tensor>>);
  const std::vector<Tensor> tensors{vec({1, 2})};
  {
    const PreserveVersionGuard guard(tensors);
    tensors[0].add_(1);
  }
  EXPECT_EQ(tensors[0]._version(), 0);
}

TEST(Inplace, ThroughDetachIncrementsTheVersion) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x.exp();
  y.detach().add_(1);
  EXPECT_EQ(y._version(), 1);
  EXPECT_ERROR(y.sum().backward(), kModified);
}

TEST(Inplace, ThroughDataKeepsTheVersion) {
  const Tensor x = leaf({0, 0});
  const Tensor y = x.exp();
  y.data().add_(1);
  EXPECT_EQ(y._version(), 0);
  y.sum().backward();
  expect_values(x.grad(), {2, 2});
}

TEST(Inplace, UnderNoGradIncrementsTheVersion) {
  const Tensor x = leaf({1, 2}), y = x * x;
  {
    const NoGradGuard off;
    x.add_(1);
  }
  EXPECT_ERROR(y.sum().backward(),
               "[CPUFloatType [2]] is at version 1; expected version 0 instead.");
}

TEST(Views, UpdateTheBasesHistoryOnWrite) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = x * 1;
  const Tensor first = y.slice(0, 0, 2);
  first.mul_(10);
  EXPECT_EQ(y.grad_fn()->name(), "torch::autograd::CopySlices");
  y.sum().backward();
  expect_values(x.grad(), {10, 10, 1, 1});
}

TEST(Views, OfViewsUpdateTheBase) {
  const Tensor x = leaf({0, 1, 2, 3, 4, 5});
  const Tensor y = x * 1, matrix = y.view({2, 3}), row = matrix[0], rest = row.slice(0, 1);
  EXPECT_TRUE(rest._base().is_same(y));
  rest.mul_(3);
  expect_values(y, {0, 3, 6, 3, 4, 5});
  (matrix * matrix).sum().backward();
  expect_values(x.grad(), {0, 18, 36, 6, 8, 10});
}

TEST(Views, SeeWritesToTheBase) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = x * 1, view = y.slice(0, 2);
  const auto* before = view.grad_fn().get();
  y.mul_(5);
  EXPECT_NE(view.grad_fn().get(), before);
  view.sum().backward();
  expect_values(x.grad(), {0, 0, 5, 5});
}

TEST(Views, SeeWritesToOtherViews) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = x * 1, a = y.slice(0, 0, 3), b = y.slice(0, 1);
  a.mul_(7);
  b.sum().backward();
  expect_values(x.grad(), {0, 7, 7, 1});
}

TEST(Views, GetHistoryWhenTheBaseGetsOne) {
  const Tensor base = zeros({4}), first = base.slice(0, 0, 2), matrix = base.view({2, 2});
  const Tensor x = leaf({1, 2});
  first.add_(x);
  EXPECT_TRUE(matrix.requires_grad());
  EXPECT_FALSE(matrix.is_leaf());
  (matrix * matrix).sum().backward();
  expect_values(x.grad(), {2, 4});
}

TEST(Views, RequireGradWhenTheBaseDoes) {
  const Tensor base = ones({4}), view = base.slice(0, 0, 2);
  base.requires_grad_();
  EXPECT_TRUE(view.requires_grad());
  EXPECT_TRUE(view.is_leaf());
}

TEST(Views, AcceptCopiesWithHistory) {
  const Tensor x = leaf({1, 2}), y = leaf({3, 4}), out = zeros({2, 2});
  out[0].copy_(x * 2);
  out[1].copy_(y * 3);
  (out * out).sum().backward();
  expect_values(x.grad(), {8, 16});
  expect_values(y.grad(), {54, 72});
}

TEST(Views, AssignmentToATemporaryWritesThrough) {
  const Tensor x = leaf({5});
  const Tensor out = ones({3});
  out[1] = x.sum() * 2;
  out.sum().backward();
  expect_values(out, {1, 10, 1});
  expect_values(x.grad(), {2});
}

TEST(Views, CanBeMultipliedByThemselvesInPlace) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = x * 1, v = y.slice(0, 0, 2);
  v.mul_(v);
  y.sum().backward();
  expect_values(x.grad(), {2, 4, 1});
}

TEST(Views, OverlappingWritesAgreeWithFiniteDifferences) {
  const auto f = [](const Tensor& x) {
    const Tensor y = x * 2;
    for (int i = 0; i < 3; ++i) {
      y.slice(0, i, i + 2).mul_(y.slice(0, 1, 3).exp());
      y.view({2, 2}).t()[1].add_(x.slice(0, 0, 2));
    }
    return (y * y).sum();
  };
  const Tensor x = leaf({0.1, -0.2, 0.3, 0.05}, kDouble);
  f(x).backward();
  expect_values(x.grad(), numeric_gradient(f, x), 1e-5);
}

TEST(Views, ShareTheVersionCounter) {
  const Tensor x = zeros({4}), view = x.slice(0, 0, 2);
  view.add_(1);
  EXPECT_EQ(x._version(), 1);
  x.add_(1);
  EXPECT_EQ(view._version(), 2);
}

TEST(Versions, OfNewTensorsAreZero) {
  const Tensor x = vec({1, 2});
  for (const Tensor& t :
       {zeros({2}), ones({2}), full({2}, 3), arange(3), linspace(0, 1, 3), eye(2), rand({2}),
        randn({2}), randint(5, {2}), randperm(4), zeros_like(x), rand_like(x), x.clone(),
        x.to(kDouble), cat({x, x}), stack({x, x}), x * 2})
    EXPECT_EQ(t._version(), 0);
}

TEST(Views, CannotBeDetachedInPlace) {
  const Tensor x = leaf({1, 2}), y = x * 1;
  EXPECT_ERROR(y[0].detach_(), "Can't detach views in-place. Use detach() instead.");
  y.detach_();
  EXPECT_TRUE(y.is_leaf());
  EXPECT_FALSE(y.requires_grad());
}

}  // namespace
}  // namespace hearth::testing
