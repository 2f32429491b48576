#include "hearth/nn/loss.h"

#include <ostream>

#include "nn/losses.h"

namespace hearth::nn {

namespace functional {

namespace {

/// Warns if sizes differ, because broadcasting input and target is seldom intended.
void warn_if_broadcast(const Tensor& input, const Tensor& target) {
  if (target.sizes() == input.sizes()) return;
  warn(hearth::detail::str(
      "Using a target size (", target.sizes(), ") that is different to the input size (",
      input.sizes(),
      "). This will likely lead to incorrect results due to broadcasting. Please ensure they have "
      "the same size."));
}

/// Both tensors in their common size, before the dtypes promote: a 0-dim target then counts in
/// full.
TensorPair broadcast(const Tensor& input, const Tensor& target) {
  if (target.sizes() == input.sizes()) return {input, target};
  const std::vector<Tensor> both = broadcast_tensors({input, target});
  return {both[0], both[1]};
}

}  // namespace

Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options) {
  warn_if_broadcast(input, target);
  const auto [a, b] = broadcast(input, target);
  return hearth::mse_loss(a, b, reduction_of(options));
}

Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& options) {
  warn_if_broadcast(input, target);
  const auto [a, b] = broadcast(input, target);
  return hearth::l1_loss(a, b, reduction_of(options));
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      const SmoothL1LossFuncOptions& options) {
  warn_if_broadcast(input, target);
  const auto [a, b] = broadcast(input, target);
  return hearth::smooth_l1_loss(a, b, reduction_of(options), options.beta().value_or(1));
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      const SmoothL1LossFuncOptions& options, double beta) {
  HEARTH_CHECK(!options.beta(), "expected beta not to be provided in 'options', but got ",
               *options.beta());
  return functional::smooth_l1_loss(input, target, SmoothL1LossFuncOptions(options).beta(beta));
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                            const BinaryCrossEntropyFuncOptions& options) {
  HEARTH_CHECK(target.sizes() == input.sizes(), "Using a target size (", target.sizes(),
               ") that is different to the input size (", input.sizes(),
               ") is deprecated. Please ensure they have the same size.");
  return hearth::binary_cross_entropy(input, target, options.weight(), reduction_of(options));
}

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const BinaryCrossEntropyWithLogitsFuncOptions& options) {
  HEARTH_CHECK(target.sizes() == input.sizes(), "Target size (", target.sizes(),
               ") must be the same as input size (", input.sizes(), ")");
  return hearth::binary_cross_entropy_with_logits(input, target, options.weight(),
                                                  options.pos_weight(), reduction_of(options));
}

Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options) {
  HEARTH_CHECK(input.dim() < 2 || input.size(0) == target.size(0), "Expected input batch_size (",
               input.size(0), ") to match target batch_size (", target.size(0), ").");
  return hearth::nll_loss_nd(input, target, options.weight(), reduction_of(options),
                             options.ignore_index());
}

Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyFuncOptions& options) {
  return hearth::cross_entropy_loss(input, target, options.weight(), reduction_of(options),
                                    options.ignore_index(), options.label_smoothing());
}

Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossFuncOptions& options) {
  warn_if_broadcast(input, target);
  return hearth::huber_loss(input, target, reduction_of(options), options.delta());
}

Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& options) {
  if (std::holds_alternative<enumtype::kMean>(options.reduction()))
    warn(
        "reduction: 'mean' divides the total loss by both the batch size and the support size."
        "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
        "'mean' will be changed to behave the same as 'batchmean' in the next major release.");
  const bool batch_mean = std::holds_alternative<enumtype::kBatchMean>(options.reduction());
  const Tensor loss =
      hearth::kl_div(input, target, batch_mean ? int64_t{Reduction::Sum} : reduction_of(options),
                     options.log_target());
  return batch_mean && input.dim() > 0 ? loss / input.size(0) : loss;
}

Tensor _smooth_l1_loss(const Tensor& input, const Tensor& target, double beta) {
  const Tensor d = (input - target).abs();
  return where(d < beta, 0.5 * d.pow(2) / beta, d - 0.5 * beta);
}

}  // namespace functional

/// As in LibTorch, two of the losses are printed without parentheses.
static std::string text_of(const std::string& name) {
  return name == "SmoothL1Loss" || name == "HuberLoss" ? name : name + "()";
}

/// Defines forward() and pretty_print() of a loss; `with_buffers` is an expression for its options
/// with its buffers.
#define HEARTH_FORWARD(Name, function, with_buffers) \
  HEARTH_LOSS_FORWARD(Name, function, with_buffers)  \
  void Name##Impl::pretty_print(std::ostream& stream) const { stream << text_of(#Name); }

HEARTH_FORWARD(MSELoss, mse_loss, options)
HEARTH_FORWARD(L1Loss, l1_loss, options)
HEARTH_FORWARD(SmoothL1Loss, smooth_l1_loss, options)
HEARTH_FORWARD(HuberLoss, huber_loss, options)
HEARTH_FORWARD(KLDivLoss, kl_div, options)
HEARTH_FORWARD(BCELoss, binary_cross_entropy, BCELossOptions(options).weight(weight))
HEARTH_FORWARD(NLLLoss, nll_loss, NLLLossOptions(options).weight(weight))
HEARTH_FORWARD(CrossEntropyLoss, cross_entropy, CrossEntropyLossOptions(options).weight(weight))
HEARTH_FORWARD(BCEWithLogitsLoss, binary_cross_entropy_with_logits,
               BCEWithLogitsLossOptions(options).weight(weight).pos_weight(pos_weight))
#undef HEARTH_FORWARD

BCEWithLogitsLossImpl::BCEWithLogitsLossImpl(BCEWithLogitsLossOptions options_)
    : options(std::move(options_)) {
  BCEWithLogitsLossImpl::reset();
}

void BCEWithLogitsLossImpl::reset() {
  weight = register_buffer("weight", options.weight());
  pos_weight = register_buffer("pos_weight", options.pos_weight());
}

}  // namespace hearth::nn
