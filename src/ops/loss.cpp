#include "functors/loss.h"

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/reduction.h"
#include "ops/autocast.h"
#include "ops/binding.h"
#include "ops/composed_gradient.h"
#include "ops/composed_out.h"
#include "ops/losses.h"
#include "ops/pointwise.h"

namespace hearth {

Tensor reduced(const Tensor& losses, int64_t reduction) {
  if (reduction == Reduction::Mean) return losses.mean();
  return reduction == Reduction::Sum ? losses.sum() : losses;
}

Tensor only_where(const Tensor& condition, const Tensor& t) {
  return where(condition, t, zeros({}, t.options()));
}

namespace {

/// Applies the functor to self and target, and reduces.
template <class F>
Tensor element_loss(F functor, const Tensor& self, const Tensor& target, int64_t reduction) {
  return reduced(pointwise(functor, self, target).call(), reduction);
}

/// Throws unless all elements are between 0 and 1. As in PyTorch, checks CPU tensors only.
void check_probabilities(const Tensor& t, const char* name) {
  if (!t.is_cpu() || t.numel() == 0) return;
  const NoGradGuard off;
  HEARTH_CHECK(t.min().item<double>() >= 0 && t.max().item<double>() <= 1, "all elements of ", name,
               " should be between 0 and 1");
}

/// Casts losses to the dtype of `like` if that is floating, as in PyTorch, unless autocast chose
/// theirs.
Tensor in_dtype_of(const Tensor& like, const Tensor& losses) {
  return uses_autocast(like) || !like.is_floating_point() ? losses : losses.to(like.scalar_type());
}

/// Throws PyTorch's error unless `other` broadcasts to `sizes`.
void check_broadcasts_into(IntArrayRef sizes, IntArrayRef other) {
  const Dims wanted = broadcast_sizes(sizes, other);
  HEARTH_CHECK(wanted == Dims(sizes), "output with shape ", sizes,
               " doesn't match the broadcast shape ", wanted);
}

void check_entropy_inputs(const Tensor& self, const Tensor& target) {
  const bool has_mixed_dtypes = self.scalar_type() != target.scalar_type() && !uses_autocast(self);
  HEARTH_CHECK(!has_mixed_dtypes, "Found dtype ", name_of(target.scalar_type()), " but expected ",
               name_of(self.scalar_type()));
  check_probabilities(self, "input");
  check_probabilities(target, "target");
}

/// Multiplies losses by the weight, in the losses' sizes and dtype, and reduces.
Tensor weighted(const Tensor& losses, const Tensor& weight, int64_t reduction) {
  if (!weight.defined()) return reduced(losses, reduction);
  check_broadcasts_into(losses.sizes(), weight.sizes());
  return reduced(losses.mul(weight).to(losses.scalar_type()), reduction);
}

/// The losses in self's sizes. As in ATen, dimensions of size 1 are ignored: [N, 1] and [N] are
/// compared element by element.
Tensor squeezed_entropy(const Tensor& self, const Tensor& target) {
  if (self.sizes().equals(target.sizes()))
    return pointwise(fn::BinaryCrossEntropy{}, self, target).call();
  const Tensor input = self.squeeze(), wanted = target.squeeze();
  check_broadcasts_into(input.sizes(), wanted.sizes());
  return pointwise(fn::BinaryCrossEntropy{}, input, wanted).call().view(self.sizes());
}

/// Throws unless the losses fit the target's sizes and dtype, as in PyTorch.
void check_logit_inputs(const Tensor& self, const Tensor& target, const Tensor& pos_weight) {
  check_broadcasts_into(target.sizes(), self.sizes());
  if (pos_weight.defined())
    check_broadcasts_into(self.sizes(), broadcast_sizes(pos_weight.sizes(), target.sizes()));
  check_castable(result_type(self, target), target.scalar_type());
}

/// The gradient of binary_cross_entropy with respect to its input. Its own derivatives are
/// PyTorch's, also where the divisor is limited: at an input and a target of 0, the second
/// derivative is 0.
struct EntropySlope {
  using Args = NoArgs;
  static constexpr OpInfo info{.name = "binary_cross_entropy_backward",
                               .node = "BinaryCrossEntropyBackward",
                               .arguments = "grad_output,self,target",
                               .dtypes = dtypes::kFloatAndDouble,
                               .saves = in_slot(0) | in_slot(1) | in_slot(2)};
  static void launch(const Args&, LaunchContext& context) {
    const TensorImpl* in[] = {&context.in_impl(0), &context.in_impl(1), &context.in_impl(2)};
    const TensorImpl& out = context.out_impl();
    PointwiseParams params = pointwise_params(out, in, 3, out.dtype);
    params.functor = fn::number_of<fn::BinaryCrossEntropy>;
    params.formula = Formula::kGradA;
    run_kernel(context.ctx, params);
  }
  static void grad(const Args&, GradContext& context) {
    constexpr double kEps = 1e-12;
    const Tensor g = context.in(0), a = context.in(1), b = context.in(2), outer = context.grad();
    if (context.needs(0)) context.set(0, binary_cross_entropy_slope(outer, a, b));
    if (context.needs(1)) {
      const Tensor above = a * a - 2 * a * b + b;
      const Tensor below = (a + kEps).square() * (1 - a + kEps).square();
      context.set(1, outer * g * above / below);
    }
    if (context.needs(2)) context.set(2, -outer * g / (a * (1 - a)).clamp_min(kEps));
  }
};

}  // namespace

Tensor binary_cross_entropy_slope(const Tensor& g, const Tensor& input, const Tensor& target) {
  return invoke<EntropySlope>({}, g, input, target).call();
}

Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return element_loss(fn::SquaredError{}, self, target, reduction);
}
Tensor l1_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  const bool has_bool = self.scalar_type() == kBool || target.scalar_type() == kBool;
  if (!has_bool && is_floating_point(result_type(self, target)))
    return element_loss(fn::AbsoluteError{}, self, target, reduction);
  return reduced(self.sub(target).abs(), reduction);
}
Tensor smooth_l1_loss(const Tensor& self, const Tensor& target, int64_t reduction, double beta) {
  HEARTH_CHECK(beta >= 0, "smooth_l1_loss does not support negative values for beta.");
  if (beta == 0) return l1_loss(self, target, reduction);
  return element_loss(fn::SmoothAbsoluteError{beta}, self, target, reduction);
}
Tensor huber_loss(const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  HEARTH_CHECK(delta > 0, "huber_loss does not support non-positive values for delta.");
  check_castable(result_type(self, target), self.scalar_type());
  return in_dtype_of(self, element_loss(fn::HuberError{delta}, self, target, reduction));
}
Tensor kl_div(const Tensor& self, const Tensor& target, int64_t reduction, bool log_target) {
  HEARTH_CHECK(!is_complex(self.scalar_type()) && !is_complex(target.scalar_type()),
               "kl_div: Complex inputs not supported.");
  HEARTH_CHECK(self.is_floating_point() && target.is_floating_point(),
               "kl_div: Integral inputs not supported.");
  return log_target ? element_loss(fn::LogDivergence{}, self, target, reduction)
                    : element_loss(fn::Divergence{}, self, target, reduction);
}
Tensor binary_cross_entropy(const Tensor& self, const Tensor& target,
                            const std::optional<Tensor>& weight, int64_t reduction) {
  check_entropy_inputs(self, target);
  const Tensor weights = or_undefined(weight);
  check_no_gradient(weights, "binary_cross_entropy", "weight");
  return weighted(squeezed_entropy(self, target), weights, reduction);
}
Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target,
                                        const std::optional<Tensor>& weight,
                                        const std::optional<Tensor>& pos_weight,
                                        int64_t reduction) {
  const Tensor positive = or_undefined(pos_weight);
  check_logit_inputs(self, target, positive);
  const Tensor losses = positive.defined()
                            ? pointwise(fn::WeightedLogitEntropy{}, self, target, positive).call()
                            : pointwise(fn::LogitEntropy{}, self, target).call();
  return weighted(in_dtype_of(target, losses), or_undefined(weight), reduction);
}

Tensor soft_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  check_no_gradient(target, "soft_margin_loss", "target");
  check_castable(result_type(self, target), self.scalar_type());
  check_broadcasts_into(self.sizes(), target.sizes());
  const Tensor losses = pointwise(fn::SoftMargin{}, self, target).call();
  return reduced(in_dtype_of(self, losses), reduction);
}

HEARTH_DEFINE_WRITE_OUT(soft_margin_loss,
                        (const Tensor& self, const Tensor& target, int64_t reduction),
                        soft_margin_loss(self, target, reduction))
HEARTH_DEFINE_WRITE_OUT(mse_loss, (const Tensor& self, const Tensor& target, int64_t reduction),
                        mse_loss(self, target, reduction))
HEARTH_DEFINE_WRITE_OUT(smooth_l1_loss,
                        (const Tensor& self, const Tensor& target, int64_t reduction, double beta),
                        smooth_l1_loss(self, target, reduction, beta))
HEARTH_DEFINE_WRITE_OUT(huber_loss,
                        (const Tensor& self, const Tensor& target, int64_t reduction, double delta),
                        huber_loss(self, target, reduction, delta))
HEARTH_DEFINE_WRITE_OUT(binary_cross_entropy,
                        (const Tensor& self, const Tensor& target,
                         const std::optional<Tensor>& weight, int64_t reduction),
                        binary_cross_entropy(self, target, weight, reduction))

}  // namespace hearth
