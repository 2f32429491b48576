#include "seam/nll_loss.h"

#include "hearth/operators.h"
#include "hearth/reduction.h"
#include "ops/composed_gradient.h"
#include "ops/composed_out.h"
#include "ops/copy.h"
#include "ops/losses.h"

namespace hearth {

namespace {

struct NllLossArgs {
  int64_t reduction, ignore_index;
  HEARTH_FIELDS(reduction, ignore_index)
};

int class_dim_of(int64_t dims) { return dims == 1 ? 0 : 1; }

/// The gradient with respect to the scores. Inputs: grad_output, target, weight, total_weight.
struct NllLossBackward {
  struct Args {
    int64_t reduction, ignore_index;
    Dims sizes;  // of the scores
    HEARTH_FIELDS(reduction, ignore_index, sizes)
  };
  static constexpr OpInfo info{.name = "nll_loss_backward",
                               .node = "NllLossBackward",
                               .arguments = "grad_output,target,weight,total_weight",
                               .dtypes = dtypes::kFloating,
                               .saves = in_slot(1) | in_slot(2),
                               .optional = in_slot(2)};
  static void infer(const Args& args, InferContext& context) {
    context.set(0, args.sizes, context.in(0).dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    NllLossBackwardParams params;
    params.grad = context.in(0);
    params.target = context.in(1);
    params.weight = context.in(2);
    params.total_weight = context.in(3);
    params.grad_in = context.out();
    params.class_dim = class_dim_of(params.grad_in.dim);
    params.ignore_index = args.ignore_index;
    params.mean = args.reduction == Reduction::Mean;
    run_fill(context.ctx, params.grad_in, 0);
    run_kernel(context.ctx, params);
  }
  /// The loss is linear in the scores, so the derivative of this op is nll_loss of the incoming
  /// gradient.
  static void grad(const Args& args, GradContext& context) {
    if (context.needs(0))
      context.set(0, nll_loss_nd(context.grad(), context.in(1), context.in(2), args.reduction,
                                 args.ignore_index));
  }
};

/// Inputs: the scores, target, weight; outputs: the loss and the sum of the weights.
struct NllLoss {
  using Args = NllLossArgs;
  static constexpr OpInfo info{.name = "nll_loss",
                               .node = "NllLoss",
                               .arguments = "self,target,weight",
                               .dtypes = dtypes::kFloating,
                               .amp = Amp::kFloat32,
                               .saves = in_slot(1) | in_slot(2) | out_slot(1),
                               .optional = in_slot(2),
                               .outputs = 2,
                               .non_differentiable = out_slot(1)};
  static void check_weight(const TensorImpl& weight, const TensorImpl& scores, int64_t classes) {
    HEARTH_CHECK(weight.dim <= 1 && weight.numel == classes,
                 "weight tensor should be defined either for all ", classes,
                 " classes or no classes but got weight tensor of shape: ", weight.sizes());
    HEARTH_CHECK(weight.dtype == scores.dtype, "expected scalar type ", name_of(scores.dtype),
                 " but found ", name_of(weight.dtype));
  }
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl &scores = context.in(0), &target = context.in(1);
    HEARTH_CHECK(target.dtype == kLong || target.dtype == kByte,
                 "expected target dtype to be Long or Byte, but got ", name_of(target.dtype));
    if (context.has(2))
      check_weight(context.in(2), scores, scores.sizes()[size_t(class_dim_of(scores.dim))]);
    const bool is_unreduced = args.reduction == Reduction::None;
    context.set(0, is_unreduced ? target.sizes() : IntArrayRef(), scores.dtype);
    context.set(1, {}, scores.dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    NllLossParams params;
    params.in = context.in(0);
    params.target = context.in(1);
    params.weight = context.in(2);
    params.out = context.out(0);
    params.total_weight = context.out(1);
    params.class_dim = class_dim_of(params.in.dim);
    params.ignore_index = args.ignore_index;
    params.reduce = args.reduction != Reduction::None;
    params.mean = args.reduction == Reduction::Mean;
    if (!params.reduce) run_fill(context.ctx, params.total_weight, 0);
    if (params.reduce || params.target.numel > 0) run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    if (context.needs(0))
      context.set(
          0, invoke<NllLossBackward>({args.reduction, args.ignore_index, Dims(context.in_sizes(0))},
                                     context.grad(), context.in(1), context.in(2), context.out(1))
                 .call());
  }
};

/// Throws PyTorch's errors, which depend on the number of dimensions, unless the target has the
/// scores' sizes without the classes.
void check_sizes(const Tensor& self, const Tensor& target) {
  HEARTH_CHECK_AS(ValueError, self.dim() > 0, "Expected 1 or more dimensions (got 0)");
  if (self.dim() == 1) {
    HEARTH_CHECK(target.dim() <= 1, "0D or 1D target tensor expected, multi-target not supported");
    HEARTH_CHECK_AS(
        ValueError, target.numel() == 1,
        "For 1D input, 1D target must have size 1, but got target size: ", target.numel());
    return;
  }
  HEARTH_CHECK(self.dim() != 2 || target.dim() == 1,
               "0D or 1D target tensor expected, multi-target not supported");
  HEARTH_CHECK_AS(ValueError, target.dim() > 0 && self.size(0) == target.size(0),
                  "Expected input batch_size (", self.size(0), ") to match target batch_size (",
                  target.dim() > 0 ? target.size(0) : 1, ").");
  HEARTH_CHECK(self.dim() != 4 || target.dim() == 3,
               "only batches of spatial targets supported (3D tensors) but got targets of "
               "dimension: ",
               target.dim());
  Dims wanted(self.sizes());
  wanted.erase(1);
  HEARTH_CHECK(self.dim() != 4 || target.sizes().equals(wanted),
               "size mismatch (got input: ", self.sizes(), " , target: ", target.sizes());
  HEARTH_CHECK(target.sizes().equals(wanted), "Expected target size ", IntArrayRef(wanted),
               ", got ", target.sizes());
}

/// Checks the inputs; returns the loss and the sum of the weights.
TensorPair loss_and_weight(const Tensor& self, const Tensor& target, const Tensor& weight,
                           int64_t reduction, int64_t ignore_index) {
  check_sizes(self, target);
  check_no_gradient(weight, "nll_loss_forward", "weight");
  const bool is_single = self.dim() == 1 && target.dim() == 1;
  return invoke<NllLoss>({reduction, ignore_index}, self, is_single ? target.select(0, 0) : target,
                         weight)
      .pair();
}

/// t times the weight, if there is one, along the dimension of classes.
Tensor times_weight(const Tensor& t, const Tensor& weight, int class_dim) {
  if (!weight.defined()) return t;
  Dims sizes(size_t(t.dim()), 1);
  sizes[size_t(class_dim)] = weight.numel();
  return t * weight.reshape(sizes);
}

struct CrossEntropy {
  struct Args {
    int64_t reduction, ignore_index;
    double label_smoothing;
    HEARTH_FIELDS(reduction, ignore_index, label_smoothing)
  };
  static constexpr OpInfo info{.name = "cross_entropy_loss", .amp_cpu = Amp::kFloat32};
  static Tensor compute(const Args& args, const Tensor& self, const Tensor& target,
                        const Tensor& weight) {
    if (self.sizes().equals(target.sizes())) return of_probabilities(args, self, target, weight);
    const Tensor scores = self.dim() > 0 ? self.log_softmax(class_dim_of(self.dim())) : self;
    if (args.label_smoothing <= 0)
      return nll_loss_nd(scores, target, weight, args.reduction, args.ignore_index);
    HEARTH_CHECK(args.label_smoothing <= 1,
                 "label_smoothing must be between 0.0 and 1.0. Got: ", args.label_smoothing);
    return smoothed(args, scores, target, weight);
  }
  static Tensor of_probabilities(const Args& args, const Tensor& self, const Tensor& target,
                                 const Tensor& weight) {
    HEARTH_CHECK(target.is_floating_point(),
                 "Expected floating point type for target with class probabilities, got ",
                 name_of(target.scalar_type()));
    HEARTH_CHECK(args.ignore_index < 0, "ignore_index is not supported for floating point target");
    const int dim = class_dim_of(self.dim());
    const int64_t classes = self.size(dim);
    HEARTH_CHECK(!weight.defined() || (weight.dim() == 1 && weight.numel() == classes),
                 "cross_entropy: weight tensor should be defined either for all ", classes,
                 " classes or no classes but got weight tensor of shape: ", weight.sizes());
    const double smoothing = args.label_smoothing;
    const Tensor smoothed_target =
        smoothing > 0 ? target * (1 - smoothing) + smoothing / double(classes) : target;
    const Tensor losses = times_weight(self.log_softmax(dim) * smoothed_target, weight, dim);
    if (args.reduction == Reduction::None) return losses.sum(dim).neg();
    const Tensor sum = losses.sum().neg();
    return args.reduction == Reduction::Mean ? sum / (double(self.numel()) / double(classes)) : sum;
  }
  /// nll_loss with smoothed labels: 1 - label_smoothing times the losses of the targets plus
  /// label_smoothing / classes times the losses of all classes.
  static Tensor smoothed(const Args& args, const Tensor& scores, const Tensor& target,
                         const Tensor& weight) {
    const int dim = class_dim_of(scores.dim());
    const auto [loss, total] =
        loss_and_weight(scores, target, weight, args.reduction, args.ignore_index);
    const Tensor class_sums = times_weight(scores, weight, dim).sum(dim).neg();
    const Tensor sum_of_classes =
        reduced(where(target.reshape(class_sums.sizes()).eq(args.ignore_index),
                      zeros({}, class_sums.options()), class_sums),
                args.reduction == Reduction::None ? args.reduction : int64_t{Reduction::Sum});
    const Tensor class_loss =
        args.reduction == Reduction::Mean ? sum_of_classes / total : sum_of_classes;
    const double class_share = args.label_smoothing / double(scores.size(dim));
    return loss * (1 - args.label_smoothing) + class_loss.reshape(loss.sizes()) * class_share;
  }
};

}  // namespace

Tensor nll_loss_nd(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                   int64_t reduction, int64_t ignore_index) {
  return std::get<0>(loss_and_weight(self, target, or_undefined(weight), reduction, ignore_index));
}
TensorPair nll_loss_forward(const Tensor& self, const Tensor& target,
                            const std::optional<Tensor>& weight, int64_t reduction,
                            int64_t ignore_index) {
  HEARTH_CHECK(self.dim() > 0 && self.dim() <= 2, "input tensor should be 1D or 2D");
  HEARTH_CHECK(self.dim() == 1 || target.dim() != 1 || self.size(0) == target.size(0),
               "size mismatch (got input: ", self.sizes(), ", target: ", target.sizes(), ")");
  // As in ATen, the total weight of a single target is computed without reduction, too.
  const bool is_single_target = self.dim() == 1 && reduction == Reduction::None;
  return loss_and_weight(self, target, or_undefined(weight),
                         is_single_target ? int64_t{Reduction::Sum} : reduction, ignore_index);
}
TensorPair nll_loss2d_forward(const Tensor& self, const Tensor& target,
                              const std::optional<Tensor>& weight, int64_t reduction,
                              int64_t ignore_index) {
  HEARTH_CHECK(
      self.dim() == 4,
      "only batches of spatial inputs supported (4D tensors), but got input of dimension: ",
      self.dim());
  return loss_and_weight(self, target, or_undefined(weight), reduction, ignore_index);
}
Tensor nll_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                int64_t reduction, int64_t ignore_index) {
  return std::get<0>(nll_loss_forward(self, target, weight, reduction, ignore_index));
}
Tensor nll_loss2d(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                  int64_t reduction, int64_t ignore_index) {
  return std::get<0>(nll_loss2d_forward(self, target, weight, reduction, ignore_index));
}
Tensor& nll_loss_out(Tensor& out, const Tensor& self, const Tensor& target,
                     const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index) {
  return write_out("nll_loss", out,
                   [&] { return nll_loss(self, target, weight, reduction, ignore_index); });
}

Tensor cross_entropy_loss(const Tensor& self, const Tensor& target,
                          const std::optional<Tensor>& weight, int64_t reduction,
                          int64_t ignore_index, double label_smoothing) {
  return compose<CrossEntropy>({reduction, ignore_index, label_smoothing}, self, target,
                               or_undefined(weight));
}

}  // namespace hearth
