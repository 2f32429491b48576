#include "functors/loss.h"

#include "hearth/autocast.h"
#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/reduction.h"
#include "ops/binding.h"
#include "ops/composed_out.h"
#include "ops/losses.h"
#include "ops/pointwise.h"

namespace hearth {

Tensor reduced(const Tensor& losses, int64_t reduction) {
  if (reduction == Reduction::Mean) return losses.mean();
  return reduction == Reduction::Sum ? losses.sum() : losses;
}

namespace {

/// Functor's values of input and target, reduced.
template <class F>
Tensor element_loss(F functor, const Tensor& self, const Tensor& target, int64_t reduction) {
  return reduced(pointwise(functor, self, target).call(), reduction);
}

/// What only the data can tell is looked at on the CPU, as there PyTorch does.
void check_probabilities(const Tensor& t, const char* name) {
  if (!t.is_cpu() || t.numel() == 0) return;
  const NoGradGuard off;
  HEARTH_CHECK(t.min().item<double>() >= 0 && t.max().item<double>() <= 1, "all elements of ", name,
               " should be between 0 and 1");
}

void check_entropy_inputs(const Tensor& self, const Tensor& target) {
  const bool mixed = self.scalar_type() != target.scalar_type() && self.is_floating_point() &&
                     !autocast::is_autocast_enabled(self.device().type());
  HEARTH_CHECK(!mixed, "Found dtype ", name_of(target.scalar_type()), " but expected ",
               name_of(self.scalar_type()));
  check_probabilities(self, "input");
  check_probabilities(target, "target");
}

Tensor weighted(const Tensor& losses, const Tensor& weight, int64_t reduction) {
  return reduced(weight.defined() ? losses.mul(weight) : losses, reduction);
}

}  // namespace

Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return element_loss(fn::SquaredError{}, self, target, reduction);
}
Tensor l1_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  if (is_floating_point(result_type(self, target)))
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
  return element_loss(fn::HuberError{delta}, self, target, reduction);
}
Tensor kl_div(const Tensor& self, const Tensor& target, int64_t reduction, bool log_target) {
  HEARTH_CHECK(!is_complex(self.scalar_type()) && !is_complex(target.scalar_type()),
               "kl_div: Complex inputs not supported.");
  HEARTH_CHECK(self.is_floating_point() && target.is_floating_point(),
               "kl_div: Integral inputs not supported.");
  return log_target ? element_loss(fn::LogDivergence{}, self, target, reduction)
                    : element_loss(fn::Divergence{}, self, target, reduction);
}
Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight,
                            int64_t reduction) {
  check_entropy_inputs(self, target);
  return weighted(pointwise(fn::BinaryCrossEntropy{}, self, target).call(), weight, reduction);
}
Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target,
                                        const Tensor& weight, const Tensor& pos_weight,
                                        int64_t reduction) {
  const Tensor losses = pos_weight.defined()
                            ? pointwise(fn::WeightedLogitEntropy{}, self, target, pos_weight).call()
                            : pointwise(fn::LogitEntropy{}, self, target).call();
  return weighted(losses, weight, reduction);
}

Tensor& mse_loss_out(Tensor& out, const Tensor& self, const Tensor& target, int64_t reduction) {
  return write_out("mse_loss", out, [&] { return mse_loss(self, target, reduction); });
}
Tensor& smooth_l1_loss_out(Tensor& out, const Tensor& self, const Tensor& target, int64_t reduction,
                           double beta) {
  return write_out("smooth_l1_loss", out,
                   [&] { return smooth_l1_loss(self, target, reduction, beta); });
}
Tensor& huber_loss_out(Tensor& out, const Tensor& self, const Tensor& target, int64_t reduction,
                       double delta) {
  return write_out("huber_loss", out, [&] { return huber_loss(self, target, reduction, delta); });
}
Tensor& binary_cross_entropy_out(Tensor& out, const Tensor& self, const Tensor& target,
                                 const Tensor& weight, int64_t reduction) {
  return write_out("binary_cross_entropy", out,
                   [&] { return binary_cross_entropy(self, target, weight, reduction); });
}

}  // namespace hearth
