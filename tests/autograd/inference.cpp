// Inference tensors outside inference mode. The expected errors and results are LibTorch 2.15's.
#include "tests/autograd/support.h"

#include "hearth/context.h"

namespace hearth::testing {
namespace {

constexpr const char* kInplaceUpdate =
    "Inplace update to inference tensor outside InferenceMode is not allowed.";

/// Tensors created in inference mode.
struct Created {
  Tensor plain, requires_grad;
  Created() {
    const InferenceMode on;
    plain = ones({2, 2});
    requires_grad = ones({2, 2}).requires_grad_();
  }
};

TEST(InferenceTensors, HaveViewsWithoutHistory) {
  const Created created;
  for (const Tensor& base : {created.plain, created.requires_grad})
    for (const Tensor& view : {base.view({4}), base[0], base.t().slice(0, 0, 1)}) {
      EXPECT_FALSE(view.requires_grad());
      EXPECT_TRUE(view.is_inference());
      EXPECT_TRUE(view.is_leaf());
      EXPECT_FALSE(view.is_view());
      EXPECT_ERROR(view.mul_(2), kInplaceUpdate);
      EXPECT_ERROR(view.requires_grad_(),
                   "Setting requires_grad=True on inference tensor outside InferenceMode");
    }
}

TEST(InferenceTensors, RecordNoHistoryAmongThemselves) {
  const Created created;
  const Tensor result = created.requires_grad.relu();
  EXPECT_FALSE(result.requires_grad());
  EXPECT_FALSE(result.is_inference());
  EXPECT_ERROR(created.requires_grad.sum().backward(),
               "element 0 of tensors does not require grad");
  const Tensor x = ones({2, 2}).requires_grad_();
  EXPECT_TRUE((created.requires_grad + x).requires_grad());
  EXPECT_ERROR(created.requires_grad * x, "Inference tensors cannot be saved for backward.");
}

TEST(InferenceTensors, CannotBeWrittenOutside) {
  Created created;
  const Tensor normal = full({2, 2}, 3.0), x = normal.clone().requires_grad_();
  Tensor target = created.plain;
  EXPECT_ERROR(mul_out(target, normal, normal), kInplaceUpdate);
  EXPECT_ERROR(sum_out(target, normal, 0), kInplaceUpdate);
  EXPECT_ERROR(mm_out(target, normal, normal), kInplaceUpdate);
  EXPECT_ERROR(cat_out(target, {normal, normal}), kInplaceUpdate);
  EXPECT_ERROR(mean_out(target, normal, 0), kInplaceUpdate);
  EXPECT_ERROR(zeros_out(target, {5}), kInplaceUpdate);
  EXPECT_ERROR(target.resize_({4}), kInplaceUpdate);
  EXPECT_ERROR(target.t_(), kInplaceUpdate);
  EXPECT_ERROR(target.zero_(), kInplaceUpdate);
  EXPECT_ERROR(target.uniform_(), kInplaceUpdate);
  EXPECT_ERROR(target.copy_(normal), kInplaceUpdate);
  EXPECT_ERROR(mul_out(target, x, normal), "don't support automatic differentiation");
  {
    const NoGradGuard off;
    EXPECT_ERROR(mul_out(target, normal, normal), kInplaceUpdate);
    EXPECT_ERROR(target.mul_(2), kInplaceUpdate);
  }
  EXPECT_EQ(target.sizes(), IntArrayRef({2, 2}));
  expect_values(target, {1, 1, 1, 1});
  const InferenceMode on;
  mul_out(target, normal, normal);
  expect_values(target, {9, 9, 9, 9});
}

TEST(InferenceMode, ViewsOfNormalTensorsStayNormal) {
  const Tensor x = ones({2, 2}).requires_grad_(), normal = ones({2, 2});
  Tensor of_leaf, of_plain;
  {
    const InferenceMode on;
    of_leaf = x.view({4});
    of_plain = normal.view({4});
    Tensor target = normal;
    mul_out(target, normal, normal);
  }
  EXPECT_TRUE(of_leaf.requires_grad() && of_leaf.is_view() && !of_leaf.is_inference());
  EXPECT_TRUE((of_leaf * 2).requires_grad());
  EXPECT_TRUE(of_plain.is_view() && !of_plain.is_inference());
  of_plain.mul_(2);
  expect_values(normal, {2, 2, 2, 2});
}

}  // namespace
}  // namespace hearth::testing
