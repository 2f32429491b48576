// t_, transpose_, squeeze_, unsqueeze_ and as_strided_ change a tensor's own sizes and strides.
#include "tests/autograd/support.h"

namespace hearth::testing {
namespace {

const Tensor kZeroToFive = arange(6, TensorOptions(kFloat));

TEST(InplaceViews, DoNotCopyElements) {
  const Tensor x = kZeroToFive.clone().view({2, 3});
  const void* data = x.data_ptr();
  EXPECT_TRUE(x.t_().is_same(x));
  EXPECT_EQ(x.sizes(), IntArrayRef({3, 2}));
  EXPECT_EQ(x.strides(), IntArrayRef({1, 3}));
  EXPECT_EQ(x._version(), 1);
  x.unsqueeze_(0).transpose_(0, 2);
  EXPECT_EQ(x.sizes(), IntArrayRef({2, 3, 1}));
  x.squeeze_().squeeze_(0).as_strided_({2}, {4}, 1);
  expect_values(x, {1, 5});
  EXPECT_EQ(x.data_ptr<float>(), static_cast<const float*>(data) + 1);
  EXPECT_ERROR(x.unsqueeze_(5),
               "Dimension out of range (expected to be in range of [-2, 1], but got 5)");
}

TEST(InplaceViews, PartsOfLeavesThatAreViewsCannotBeWritten) {
  for (const Tensor& leaf : {kZeroToFive.clone().view({2, 3}).t().requires_grad_(),
                             kZeroToFive.clone().view({2, 3})[0].requires_grad_()}) {
    EXPECT_ERROR(leaf[0].mul_(0),
                 "a view of a leaf Variable that requires grad is being used in an in-place");
    EXPECT_TRUE(leaf.is_leaf());
    leaf.pow(2).sum().backward();
    EXPECT_TRUE(leaf.grad().defined());
    const NoGradGuard no_grad;
    leaf[0].zero_();
  }
}

TEST(InplaceViews, AreDifferentiable) {
  const Tensor x = kZeroToFive.clone().view({2, 3}).requires_grad_();
  const Tensor y = x * 2;
  y.t_();
  EXPECT_EQ(y.grad_fn()->name(), "TBackward0");
  (y * kZeroToFive.view({3, 2})).sum().backward();
  expect_values(x.grad(), {0, 4, 8, 2, 6, 10});
}

TEST(InplaceViews, WritesAfterwardsReachTheBase) {
  const Tensor x = kZeroToFive.clone().view({3, 2}).requires_grad_();
  const Tensor base = x * 1, view = base.slice(0, 1, 3);
  view.t_();
  EXPECT_EQ(view.grad_fn()->name(), "TBackward0");
  view.mul_(kZeroToFive.slice(0, 0, 4).view({2, 2}));  // [[2, 4], [3, 5]] * [[0, 1], [2, 3]]
  expect_values(base, {0, 1, 0, 6, 4, 15});
  EXPECT_EQ(base.grad_fn()->name(), "torch::autograd::CopySlices");
  base.sum().backward();
  expect_values(x.grad(), {1, 1, 0, 2, 1, 3});
}

TEST(InplaceViews, OfALeafThrow) {
  const Tensor x = ones({2, 3}).requires_grad_();
  EXPECT_ERROR(x.t_(),
               "a leaf Variable that requires grad is being used in an in-place operation.");
  EXPECT_EQ(x.sizes(), IntArrayRef({2, 3}));
  {
    const NoGradGuard off;
    x.t_();
  }
  (x * kZeroToFive.view({3, 2})).sum().backward();
  expect_values(x.grad(), {0, 1, 2, 3, 4, 5});
}

TEST(InplaceViews, KeepOlderViewsOfTheBaseValid) {
  const Tensor x = ones({2, 3}).requires_grad_();
  const Tensor base = x * 1, row = base[0];
  base.t_();
  row.mul_(5);
  base.mul_(2);
  base[0].mul_(3);
  expect_values(row, {30, 10, 10});
  (base.sum() + row.sum()).backward();
  expect_values(x.grad(), {60, 20, 20, 6, 2, 2});
}

}  // namespace
}  // namespace hearth::testing
