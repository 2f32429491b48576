// multi_margin_loss and multilabel_margin_loss.
#include "hearth/operators.h"
#include "hearth/reduction.h"
#include "ops/composed_gradient.h"
#include "ops/composed_out.h"
#include "ops/losses.h"
#include "ops/promote.h"

namespace hearth {

namespace {

void check_scores(const Tensor& scores, const Tensor& target, const char* kernel) {
  const bool is_valid = scores.dim() <= 2 && (scores.dim() == 0 || scores.size(-1) != 0);
  HEARTH_CHECK(is_valid,
               "Expected non-empty vector or matrix with optional 0-dim batch size, but got: ",
               scores.sizes());
  HEARTH_CHECK_AS(NotImplementedError, scores.is_floating_point(), "\"", kernel,
                  "\" not implemented for '", name_of(scores.scalar_type()), "'");
  HEARTH_CHECK(target.scalar_type() == kLong, "expected scalar type Long but found ",
               name_of(target.scalar_type()));
}

/// Throws unless all targets are at least `lowest` and less than the number of classes. As in
/// PyTorch, checks CPU tensors only.
void check_range(const Tensor& target, int64_t lowest, int64_t classes, const char* message) {
  if (!target.is_cpu() || target.numel() == 0) return;
  HEARTH_CHECK(target.min().item<int64_t>() >= lowest && target.max().item<int64_t>() < classes,
               message);
}

/// The reduced losses, cast to the dtype of the scores; the mean of no samples is 0.
Tensor result_of(const Tensor& losses, int64_t reduction, const Tensor& scores) {
  const bool is_empty_mean = losses.numel() == 0 && reduction == Reduction::Mean;
  return reduced(losses, is_empty_mean ? int64_t{Reduction::Sum} : reduction)
      .to(scores.scalar_type());
}

/// Reshapes scores to [samples, classes]; half types become float32.
Tensor as_samples(const Tensor& scores) {
  const int64_t classes = scores.dim() == 0 ? 1 : scores.size(-1);
  return scores.to(wide_type(scores.scalar_type()))
      .reshape({scores.dim() == 2 ? scores.size(0) : 1, classes});
}

struct MultiMarginLoss {
  struct Args {
    double p, margin;
    int64_t reduction;
    HEARTH_FIELDS(p, margin, reduction)
  };
  static constexpr OpInfo info{
      .name = "multi_margin_loss", .arguments = "self,target,weight", .amp = Amp::kFloat32};

  static void check(const Args& args, const Tensor& self, const Tensor& target,
                    const Tensor& weight) {
    check_scores(self, target, "multi_margin_loss_cpu_kernel");
    HEARTH_CHECK(args.p == 1 || args.p == 2, "only p == 1 and p == 2 supported");
    const int64_t samples = self.dim() == 2 ? self.size(0) : 1;
    HEARTH_CHECK(target.dim() <= 1 && target.numel() == samples,
                 "multi_margin_loss: target tensor should be 1-D with size equal to the number of "
                 "input samples (batch size). Expected target size [",
                 samples, "], but got ", target.sizes(), ". Input has shape ", self.sizes(), ".");
    const int64_t classes = self.dim() == 0 ? 1 : self.size(-1);
    if (weight.defined()) {
      HEARTH_CHECK(weight.dim() <= 1 && weight.numel() == classes,
                   "inconsistent weight size, expected ", classes, " but got ", weight.sizes());
      HEARTH_CHECK(weight.scalar_type() == self.scalar_type(), "expected scalar type ",
                   name_of(self.scalar_type()), " but found ", name_of(weight.scalar_type()));
      check_no_gradient(weight, info.name, "weight");
    }
    check_range(target, 0, classes, "target out of range");
  }
  static Tensor compute(const Args& args, const Tensor& self, const Tensor& target,
                        const Tensor& weight) {
    check(args, self, target, weight);
    const Tensor scores = as_samples(self), target_column = target.reshape({-1, 1});
    const Tensor violation = args.margin - scores.gather(1, target_column) + scores;
    Tensor losses = only_where(violation.gt(0), args.p == 1 ? violation : violation * violation);
    if (weight.defined())
      losses = losses * weight.to(scores.scalar_type())
                            .reshape({-1})
                            .index_select(0, target_column.flatten())
                            .unsqueeze(1);
    const Tensor sums = losses.scatter(1, target_column, 0).sum(1) / double(scores.size(1));
    return result_of(sums.reshape(target.sizes()), args.reduction, self);
  }
};

struct MultilabelMarginLossForward {
  struct Args {
    int64_t reduction;
    HEARTH_FIELDS(reduction)
  };
  static constexpr OpInfo info{.name = "multilabel_margin_loss_forward",
                               .arguments = "self,target"};

  static void check(const Tensor& self, const Tensor& target) {
    check_scores(self, target, "multilabel_margin_loss_forward_out_frame");
    HEARTH_CHECK(target.sizes().equals(self.sizes()), "inconsistent target size: ", target.sizes(),
                 " for input of size: ", self.sizes());
    check_range(target, -1, self.dim() == 0 ? 1 : self.size(-1),
                "argument #2 'target' is out of range");
  }
  /// The largest number of targets of a sample. On devices other than the CPU, the number of
  /// columns, an upper bound that is known without waiting for the device.
  static int64_t max_targets(const Tensor& is_used) {
    if (!is_used.is_cpu() || is_used.numel() == 0) return is_used.size(1);
    return is_used.sum(1).max().item<int64_t>();
  }
  static TensorPair compute(const Args& args, const Tensor& self, const Tensor& target) {
    check(self, target);
    const Tensor scores = as_samples(self), labels = target.reshape(scores.sizes());
    const Tensor is_used = labels.eq(-1).cumsum(1).eq(0);  // before the first -1
    const Tensor classes = labels.masked_fill(is_used.logical_not(), 0);
    const Tensor is_target = zeros(scores.sizes(), scores.options())
                                 .scatter_add(1, classes, is_used.to(scores.scalar_type()))
                                 .gt(0);
    const int64_t columns = max_targets(is_used);
    const Tensor target_scores = scores.gather(1, classes.slice(1, 0, columns)).unsqueeze(2);
    const Tensor violation =
        1 - target_scores + scores.unsqueeze(1);  // [samples, targets, classes]
    const Tensor is_counted = is_used.slice(1, 0, columns)
                                  .unsqueeze(2)
                                  .logical_and(is_target.logical_not().unsqueeze(1))
                                  .logical_and(violation.gt(0));
    const Tensor losses = only_where(is_counted, violation).sum({1, 2}) / double(scores.size(1));
    const Tensor shaped = self.dim() == 2 ? losses : losses.squeeze(0);
    return {result_of(shaped, args.reduction, self),
            is_target.to(self.scalar_type()).reshape(target.sizes())};
  }
};

struct MultilabelMarginLoss {
  using Args = MultilabelMarginLossForward::Args;
  static constexpr OpInfo info{
      .name = "multilabel_margin_loss", .arguments = "self,target", .amp = Amp::kFloat32};
  static Tensor compute(const Args& args, const Tensor& self, const Tensor& target) {
    return std::get<0>(MultilabelMarginLossForward::compute(args, self, target));
  }
};

}  // namespace

Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar& p,
                         const Scalar& margin, const std::optional<Tensor>& weight,
                         int64_t reduction) {
  return compose<MultiMarginLoss>({p.toDouble(), margin.toDouble(), reduction}, self, target,
                                  or_undefined(weight));
}
Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return compose<MultilabelMarginLoss>({reduction}, self, target);
}
TensorPair multilabel_margin_loss_forward(const Tensor& self, const Tensor& target,
                                          int64_t reduction) {
  return compose<MultilabelMarginLossForward>({reduction}, self, target);
}

HEARTH_DEFINE_WRITE_OUT(multi_margin_loss,
                        (const Tensor& self, const Tensor& target, const Scalar& p,
                         const Scalar& margin, const std::optional<Tensor>& weight,
                         int64_t reduction),
                        multi_margin_loss(self, target, p, margin, weight, reduction))
HEARTH_DEFINE_WRITE_OUT(multilabel_margin_loss,
                        (const Tensor& self, const Tensor& target, int64_t reduction),
                        multilabel_margin_loss(self, target, reduction))

}  // namespace hearth
