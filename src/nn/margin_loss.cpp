#include "hearth/nn/margin_loss.h"

#include <ostream>

#include "nn/losses.h"

namespace hearth::nn {

namespace {
void check_options(const MultiMarginLossOptions& options) {
  HEARTH_CHECK(options.p() == 1 || options.p() == 2, "only p == 1 and p == 2 supported");
  HEARTH_CHECK(!options.weight().defined() || options.weight().dim() == 1,
               "weight must be one-dimensional");
}
}  // namespace

namespace functional {

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target,
                            const HingeEmbeddingLossFuncOptions& options) {
  return hearth::hinge_embedding_loss(input, target, options.margin(), reduction_of(options));
}

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           const MarginRankingLossFuncOptions& options) {
  HEARTH_CHECK(input1.dim() == input2.dim() && input1.dim() == target.dim(),
               "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
               "input1: ",
               input1.sizes(), ", input2: ", input2.sizes(), ", target: ", target.sizes());
  return hearth::margin_ranking_loss(input1, input2, target, options.margin(),
                                     reduction_of(options));
}

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             const CosineEmbeddingLossFuncOptions& options) {
  return hearth::cosine_embedding_loss(input1, input2, target, options.margin(),
                                       reduction_of(options));
}

Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                         const MultiMarginLossFuncOptions& options) {
  check_options(options);
  return hearth::multi_margin_loss(input, target, options.p(), options.margin(), options.weight(),
                                   reduction_of(options));
}

Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target,
                              const MultilabelMarginLossFuncOptions& options) {
  return hearth::multilabel_margin_loss(input, target, reduction_of(options));
}

Tensor soft_margin_loss(const Tensor& input, const Tensor& target,
                        const SoftMarginLossFuncOptions& options) {
  return hearth::soft_margin_loss(input, target, reduction_of(options));
}

Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                   const MultilabelSoftMarginLossFuncOptions& options) {
  Tensor losses = -(target * log_sigmoid(input) + (1 - target) * log_sigmoid(-input));
  if (options.weight().defined()) losses = losses * options.weight();
  return reduced(losses.sum(-1) / input.size(-1), options);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossFuncOptions& options) {
  return hearth::triplet_margin_loss(anchor, positive, negative, options.margin(), options.p(),
                                     options.eps(), options.swap(), reduction_of(options));
}

Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive,
                                         const Tensor& negative,
                                         const TripletMarginWithDistanceLossFuncOptions& options) {
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    return options.distance_function() ? (*options.distance_function())(a, b)
                                       : hearth::pairwise_distance(a, b);
  };
  const Tensor near = distance(anchor, positive);
  Tensor far = distance(anchor, negative);
  if (options.swap()) far = far.minimum(distance(positive, negative));
  return reduced((near - far + options.margin()).clamp_min(0), options);
}

}  // namespace functional

/// Defines forward() of a loss of three tensors.
#define HEARTH_FORWARD_OF_THREE(Name, function)                                   \
  Tensor Name##Impl::forward(const Tensor& a, const Tensor& b, const Tensor& c) { \
    return run_module(                                                            \
        *this,                                                                    \
        [this](const Tensor& x, const Tensor& y, const Tensor& z) {               \
          return functional::function(x, y, z, options);                          \
        },                                                                        \
        a, b, c);                                                                 \
  }
/// Defines pretty_print(), which writes `text` to the stream.
#define HEARTH_PRINT(Name, text) \
  void Name##Impl::pretty_print(std::ostream& stream) const { stream << text; }

HEARTH_LOSS_FORWARD(HingeEmbeddingLoss, hinge_embedding_loss, options)
HEARTH_PRINT(HingeEmbeddingLoss, "HingeEmbeddingLoss(margin=" << options.margin() << ")")
HEARTH_LOSS_FORWARD(MultiMarginLoss, multi_margin_loss,
                    MultiMarginLossOptions(options).weight(weight))
HEARTH_PRINT(MultiMarginLoss,
             "MultiMarginLoss(p=" << options.p() << ", margin=" << options.margin()
                                  << ", weight=" << options.weight() << ", reduction="
                                  << enumtype::get_enum_name(options.reduction()) << ")")
HEARTH_LOSS_FORWARD(MultiLabelMarginLoss, multilabel_margin_loss, options)
HEARTH_PRINT(MultiLabelMarginLoss, "MultiLabelMarginLoss()")
HEARTH_LOSS_FORWARD(SoftMarginLoss, soft_margin_loss, options)
HEARTH_PRINT(SoftMarginLoss, "SoftMarginLoss()")
HEARTH_LOSS_FORWARD(MultiLabelSoftMarginLoss, multilabel_soft_margin_loss,
                    MultiLabelSoftMarginLossOptions(options).weight(weight))
HEARTH_PRINT(MultiLabelSoftMarginLoss, "MultiLabelSoftMarginLoss()")
HEARTH_FORWARD_OF_THREE(MarginRankingLoss, margin_ranking_loss)
HEARTH_PRINT(MarginRankingLoss, "MarginRankingLoss()")
HEARTH_FORWARD_OF_THREE(CosineEmbeddingLoss, cosine_embedding_loss)
HEARTH_PRINT(CosineEmbeddingLoss, "CosineEmbeddingLoss(margin=" << options.margin() << ")")
HEARTH_FORWARD_OF_THREE(TripletMarginLoss, triplet_margin_loss)
HEARTH_PRINT(TripletMarginLoss,
             "TripletMarginLoss(margin=" << options.margin() << ", p=" << options.p()
                                         << ", eps=" << options.eps()
                                         << ", swap=" << (options.swap() ? "true" : "false") << ")")
HEARTH_FORWARD_OF_THREE(TripletMarginWithDistanceLoss, triplet_margin_with_distance_loss)
HEARTH_PRINT(TripletMarginWithDistanceLoss,
             "TripletMarginWithDistanceLoss(margin=" << options.margin() << ", swap="
                                                     << (options.swap() ? "true" : "false") << ")")
#undef HEARTH_PRINT
#undef HEARTH_FORWARD_OF_THREE

MultiMarginLossImpl::MultiMarginLossImpl(MultiMarginLossOptions options_)
    : WeightedLoss(std::move(options_)) {
  check_options(options);
}

}  // namespace hearth::nn
