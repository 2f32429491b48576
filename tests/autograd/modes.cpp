// no_grad, inference mode and anomaly mode.
#include <cmath>

#include "tests/autograd/support.h"

namespace hearth::testing {
namespace {

constexpr const char* kBothOrNeither =
    " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your "
    "code by moving both "
    "the view and the inplace either both inside the ";

TEST(NoGrad, RecordsNothing) {
  const Tensor x = leaf({1, 2});
  {
    const NoGradGuard off;
    EXPECT_FALSE(GradMode::is_enabled());
    EXPECT_FALSE((x * 2).requires_grad());
    const AutoGradMode on(true);
    EXPECT_TRUE((x * 2).requires_grad());
  }
  EXPECT_TRUE(GradMode::is_enabled());
}

TEST(NoGrad, RejectsLaterWritesToItsViews) {
  const Tensor x = leaf({1, 2}), y = x * 1;
  Tensor view, of_constant;
  const Tensor constant = zeros({2, 2});
  {
    const NoGradGuard off;
    view = y.slice(0, 0, 1);
    of_constant = constant[0];
  }
  const std::string text = std::string(
                               "A view was created in no_grad mode and is being modified inplace "
                               "with grad mode enabled.") +
                           kBothOrNeither + "no_grad block";
  EXPECT_ERROR(view.mul_(2), text);
  EXPECT_ERROR(of_constant.mul_(x), text);
  of_constant.mul_(2);  // nothing to record
  const NoGradGuard off;
  view.mul_(2);
}

TEST(NoGrad, RejectsItsViewsAfterWritesToTheBase) {
  const Tensor y = leaf({1, 2}) * 1;
  Tensor view;
  {
    const NoGradGuard off;
    view = y.slice(0, 0, 1);
  }
  y.mul_(2);
  EXPECT_ERROR(view.grad_fn(),
               "A view was created in no_grad mode and its base or another view of its base has "
               "been modified inplace with grad mode enabled.");
}

TEST(Inference, CreatesInferenceTensors) {
  const Tensor x = leaf({1, 2}), w = vec({3, 4});
  Tensor created, view;
  {
    const InferenceMode on;
    EXPECT_TRUE(InferenceMode::is_enabled());
    created = x * 2;
    view = created[0];
    created.add_(1);
    EXPECT_FALSE(created.requires_grad());
    EXPECT_TRUE(created.is_inference() && view.is_inference());
    EXPECT_FALSE(w.is_inference());
    EXPECT_FALSE(w.view({2, 1}).is_inference());
  }
  EXPECT_FALSE(InferenceMode::is_enabled());
  EXPECT_TRUE(created.is_inference());
  EXPECT_FALSE((created * 2).is_inference());
  EXPECT_FALSE(created.clone().is_inference());
}

TEST(Inference, InferenceTensorsCannotBeModifiedOrSaved) {
  Tensor inference;
  {
    const InferenceMode on;
    inference = ones({2});
  }
  const Tensor x = leaf({1, 2});
  EXPECT_ERROR(
      inference.add_(1),
      "Inplace update to inference tensor outside InferenceMode is not allowed.You can make "
      "a clone to get a normal tensor before doing inplace update.");
  EXPECT_ERROR(
      x * inference,
      "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
      "inference mode in computation tracked by autograd. To work around this, you can make a "
      "clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead "
      "of `torch.inference_mode()`.");
  EXPECT_ERROR(
      inference.requires_grad_(),
      "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  EXPECT_ERROR(inference._version(), "Inference tensors do not track version counter.");
  (x + inference).sum().backward();  // nothing is saved
  expect_values(x.grad(), {1, 1});
}

TEST(Inference, NormalTensorsKeepTheirVersionCounter) {
  const Tensor x = leaf({1, 2}), y = x.exp();
  {
    const InferenceMode on;
    y.add_(1);
  }
  EXPECT_EQ(y._version(), 1);
  EXPECT_ERROR(y.sum().backward(), "has been modified by an inplace operation");
}

TEST(Inference, RejectsLaterWritesToViewsOfNormalTensors) {
  const Tensor y = leaf({1, 2}) * 1;
  Tensor view, other;
  {
    const InferenceMode on;
    view = y.slice(0, 0, 1);
    other = y.slice(0, 0, 1);
    view.mul_(2);
  }
  EXPECT_ERROR(view.mul_(2),
               std::string("A view was created in inference mode and is being modified inplace in "
                           "normal mode.") +
                   kBothOrNeither + "inference_mode block");
  y.mul_(2);
  EXPECT_ERROR(other.grad_fn(),
               "A view was created in inference mode and its base or another view of its base has "
               "been modified inplace in normal mode.");
}

TEST(Inference, CanBeDisabledInside) {
  const Tensor x = leaf({1});
  const InferenceMode on;
  const InferenceMode off(false);
  EXPECT_TRUE((x * 2).requires_grad());
  EXPECT_FALSE((x * 2).is_inference());
}

TEST(Anomaly, NamesTheForwardCall) {
  const Warnings warnings;
  const autograd::DetectAnomalyGuard anomaly;
  const Tensor x = leaf({0});
  const Tensor y = x.sqrt() * 0;
  EXPECT_ERROR(y.backward(), "Function 'SqrtBackward0' returned nan values in its 0th output.");
  EXPECT_TRUE(Warnings::contains(
      "Error detected in SqrtBackward0. Traceback of forward call that caused the error:"));
}

TEST(Anomaly, AllowsNanWithoutTheCheck) {
  const autograd::DetectAnomalyGuard anomaly(false);
  const Tensor x = leaf({0});
  (x.sqrt() * 0).backward();
  EXPECT_TRUE(std::isnan(values_of(x.grad())[0]));
}

TEST(Anomaly, WarnsWithoutForwardInformation) {
  const Warnings warnings;
  const Tensor x = leaf({0});
  const Tensor y = x.sqrt() * 0;
  const autograd::DetectAnomalyGuard anomaly;
  EXPECT_ERROR(y.backward(), "returned nan values");
  EXPECT_TRUE(Warnings::contains(
      "No forward pass information available. Enable detect anomaly during forward pass for "
      "more information."));
}

TEST(Anomaly, NamesTheBackwardThatCreatedTheNode) {
  const Warnings warnings;
  const autograd::DetectAnomalyGuard anomaly;
  const Tensor x = leaf({0}, kDouble);
  // d/dx x^1.5 = 1.5 sqrt(x), whose own derivative at 0 is infinite; times 0 it is NaN.
  const Tensor g = autograd::grad({x.pow(1.5).sum()}, {x}, {}, {}, true)[0];
  EXPECT_ERROR((g * 0).sum().backward(), "returned nan values");
  EXPECT_TRUE(
      Warnings::contains("Traceback of forward call that induced the previous calculation"));
}

TEST(Anomaly, GuardRestoresTheMode) {
  {
    const autograd::DetectAnomalyGuard anomaly;
    EXPECT_TRUE(autograd::AnomalyMode::is_enabled());
  }
  EXPECT_FALSE(autograd::AnomalyMode::is_enabled());
}

}  // namespace
}  // namespace hearth::testing
