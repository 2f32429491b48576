#include "hearth/nn/likelihood_loss.h"

#include <ostream>

#include "hearth/autograd.h"
#include "nn/losses.h"

namespace hearth::nn {

namespace functional {

namespace {

/// Returns the variances with sizes that broadcast to the input's.
Tensor broadcastable(const Tensor& var, const Tensor& input) {
  if (var.sizes() == input.sizes()) return var;
  const IntArrayRef sizes = input.sizes();
  const IntArrayRef leading = sizes.slice(0, sizes.empty() ? 0 : sizes.size() - 1);
  if (var.sizes() == leading) return var.unsqueeze(-1);
  const bool is_one_per_row = var.dim() == input.dim() && var.dim() > 0 && var.size(-1) == 1 &&
                              var.sizes().slice(0, leading.size()) == leading;
  HEARTH_CHECK_AS(ValueError, is_one_per_row, "var is of incorrect size");
  return var;
}

}  // namespace

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target,
                        const PoissonNLLLossFuncOptions& options) {
  return hearth::poisson_nll_loss(input, target, options.log_input(), options.full(), options.eps(),
                                  reduction_of(options));
}

Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var,
                         const GaussianNLLLossFuncOptions& options) {
  HEARTH_CHECK_AS(ValueError, var.is_meta() || !var.lt(0).any().item<bool>(),
                  "var has negative entry/entries");
  const Tensor variance = broadcastable(var, input).clone();
  {
    const NoGradGuard no_grad;  // the clamp does not change gradients
    variance.clamp_min_(options.eps());
  }
  Tensor losses = 0.5 * (variance.log() + (input - target).pow(2) / variance);
  constexpr double kHalfLogOf2Pi = 0.91893853320467274178;
  if (options.full()) losses = losses + kHalfLogOf2Pi;
  return reduced(losses, options);
}

Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, double var,
                         const GaussianNLLLossFuncOptions& options) {
  return gaussian_nll_loss(input, target, full_like(input, var), options);
}

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, const CTCLossFuncOptions& options) {
  return hearth::ctc_loss(log_probs, targets, input_lengths, target_lengths, options.blank(),
                          reduction_of(options), options.zero_infinity());
}

}  // namespace functional

HEARTH_LOSS_FORWARD(PoissonNLLLoss, poisson_nll_loss, options)
void PoissonNLLLossImpl::pretty_print(std::ostream& stream) const { stream << "PoissonNLLLoss()"; }

Tensor GaussianNLLLossImpl::forward(const Tensor& input, const Tensor& target, const Tensor& var) {
  return run_module(
      *this,
      [this](const Tensor& x, const Tensor& y, const Tensor& v) {
        return functional::gaussian_nll_loss(x, y, v, options);
      },
      input, target, var);
}
void GaussianNLLLossImpl::pretty_print(std::ostream& stream) const {
  stream << "GaussianNLLLoss()";
}

Tensor CTCLossImpl::forward(const Tensor& log_probs, const Tensor& targets,
                            const Tensor& input_lengths, const Tensor& target_lengths) {
  return run_module(
      *this,
      [this](const Tensor& x, const Tensor& y, const Tensor& x_lengths, const Tensor& y_lengths) {
        return functional::ctc_loss(x, y, x_lengths, y_lengths, options);
      },
      log_probs, targets, input_lengths, target_lengths);
}
void CTCLossImpl::pretty_print(std::ostream& stream) const { stream << "CTCLoss()"; }

}  // namespace hearth::nn
