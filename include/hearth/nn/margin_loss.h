#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "hearth/nn/loss.h"

// Losses that separate scores or distances by a margin. x, y and `reduction` are as in nn/loss.h.
namespace hearth::nn {

/// Options of HingeEmbeddingLoss.
struct HEARTH_API HingeEmbeddingLossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_ARG(double, margin) = 1.0;               ///< dissimilar pairs beyond it have no loss
  HEARTH_CHOICE(reduction_t, reduction) = kMean;  ///< kMean, kSum or kNone
};
/// Options of MarginRankingLoss.
struct HEARTH_API MarginRankingLossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_ARG(double, margin) = 0;                 ///< the least difference without loss
  HEARTH_CHOICE(reduction_t, reduction) = kMean;  ///< kMean, kSum or kNone
};
/// Options of CosineEmbeddingLoss.
struct HEARTH_API CosineEmbeddingLossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_ARG(double, margin) = 0.0;               ///< dissimilar pairs below it have no loss
  HEARTH_CHOICE(reduction_t, reduction) = kMean;  ///< kMean, kSum or kNone
};
/// Options of MultiMarginLoss.
struct HEARTH_API MultiMarginLossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_ARG(int64_t, p) = 1;                     ///< exponent: 1 or 2
  HEARTH_ARG(double, margin) = 1.0;               ///< the least difference without loss
  HEARTH_ARG(Tensor, weight);                     ///< factors of the classes
  HEARTH_CHOICE(reduction_t, reduction) = kMean;  ///< kMean, kSum or kNone
};
/// Options of MultiLabelMarginLoss.
struct HEARTH_API MultiLabelMarginLossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_FROM_REDUCTION(MultiLabelMarginLossOptions)
  HEARTH_CHOICE(reduction_t, reduction) = kMean;  ///< kMean, kSum or kNone
};
/// Options of SoftMarginLoss.
struct HEARTH_API SoftMarginLossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_FROM_REDUCTION(SoftMarginLossOptions)
  HEARTH_CHOICE(reduction_t, reduction) = kMean;  ///< kMean, kSum or kNone
};
/// Options of MultiLabelSoftMarginLoss.
struct HEARTH_API MultiLabelSoftMarginLossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_ARG(Tensor, weight);                     ///< factors of the classes
  HEARTH_CHOICE(reduction_t, reduction) = kMean;  ///< kMean, kSum or kNone
};
/// Options of TripletMarginLoss.
struct HEARTH_API TripletMarginLossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_ARG(double, margin) = 1.0;               ///< the least difference without loss
  HEARTH_ARG(double, p) = 2.0;                    ///< the distances are p-norms
  HEARTH_ARG(double, eps) = 1e-6;                 ///< added to differences
  HEARTH_ARG(bool, swap) = false;                 ///< see TripletMarginLoss
  HEARTH_CHOICE(reduction_t, reduction) = kMean;  ///< kMean, kSum or kNone
};
/// Options of TripletMarginWithDistanceLoss.
struct HEARTH_API TripletMarginWithDistanceLossOptions {
  using reduction_t = detail::reduction_t;
  using distance_function_t = std::function<Tensor(const Tensor&, const Tensor&)>;
  /// By default pairwise_distance.
  HEARTH_ARG(std::optional<distance_function_t>, distance_function);
  HEARTH_ARG(double, margin) = 1.0;               ///< the least difference without loss
  HEARTH_ARG(bool, swap) = false;                 ///< see TripletMarginLoss
  HEARTH_CHOICE(reduction_t, reduction) = kMean;  ///< kMean, kSum or kNone
};

/// Declares a loss of three tensors.
#define HEARTH_LOSS_OF_THREE(Name, input1, input2, input3)                            \
  class HEARTH_API Name##Impl : public detail::Stateless<Name##Impl, Name##Options> { \
   public:                                                                            \
    using detail::Stateless<Name##Impl, Name##Options>::Stateless;                    \
    Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& input3); \
    void pretty_print(std::ostream& stream) const override;                           \
  };                                                                                  \
  HEARTH_MODULE(Name)

/// x where y = 1, max(0, margin - x) where y = -1.
HEARTH_LOSS(HingeEmbeddingLoss, Stateless);
/// max(0, 1 - x[y] + x[c]), summed over all pairs of a target class y and a class c that is not a
/// target, and divided by C; the first -1 ends the targets, [N, C] or [C].
HEARTH_LOSS(MultiLabelMarginLoss, Stateless);
/// log(1 + exp(-y * x)).
HEARTH_LOSS(SoftMarginLoss, Stateless);
/// The mean of BCEWithLogitsLoss over the classes.
HEARTH_LOSS(MultiLabelSoftMarginLoss, WeightedLoss);
/// max(0, -y * (x1 - x2) + margin).
HEARTH_LOSS_OF_THREE(MarginRankingLoss, input1, input2, target);
/// 1 - cos(x1, x2) where y = 1, max(0, cos(x1, x2) - margin) where y = -1.
HEARTH_LOSS_OF_THREE(CosineEmbeddingLoss, input1, input2, target);
/// max(0, |anchor - positive|_p - |anchor - negative|_p + margin); with `swap`, the negative's
/// distance is measured from the nearer of anchor and positive.
HEARTH_LOSS_OF_THREE(TripletMarginLoss, anchor, positive, negative);
/// TripletMarginLoss with any distance.
HEARTH_LOSS_OF_THREE(TripletMarginWithDistanceLoss, anchor, positive, negative);

/// max(0, margin - x[y] + x[c])^p, summed over the classes c other than y, and divided by C; x has
/// scores, [N, C] or [C].
class HEARTH_API MultiMarginLossImpl
    : public detail::WeightedLoss<MultiMarginLossImpl, MultiMarginLossOptions> {
 public:
  explicit MultiMarginLossImpl(MultiMarginLossOptions options_ = {});
  Tensor forward(const Tensor& input, const Tensor& target);
  void pretty_print(std::ostream& stream) const override;
};
HEARTH_MODULE(MultiMarginLoss);

namespace functional {

using HingeEmbeddingLossFuncOptions = HingeEmbeddingLossOptions;      ///< of hinge_embedding_loss
using MarginRankingLossFuncOptions = MarginRankingLossOptions;        ///< of margin_ranking_loss
using CosineEmbeddingLossFuncOptions = CosineEmbeddingLossOptions;    ///< of cosine_embedding_loss
using MultiMarginLossFuncOptions = MultiMarginLossOptions;            ///< of multi_margin_loss
using MultilabelMarginLossFuncOptions = MultiLabelMarginLossOptions;  ///< of multilabel_margin_loss
using SoftMarginLossFuncOptions = SoftMarginLossOptions;              ///< of soft_margin_loss
using TripletMarginLossFuncOptions = TripletMarginLossOptions;        ///< of triplet_margin_loss
/// Options of multilabel_soft_margin_loss.
using MultilabelSoftMarginLossFuncOptions = MultiLabelSoftMarginLossOptions;
/// Options of triplet_margin_with_distance_loss.
using TripletMarginWithDistanceLossFuncOptions = TripletMarginWithDistanceLossOptions;

// The modules above as functions.
HEARTH_API Tensor
hinge_embedding_loss(const Tensor& input, const Tensor& target,
                     const HingeEmbeddingLossFuncOptions& options = {});  ///< as HingeEmbeddingLoss
HEARTH_API Tensor
margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                    const MarginRankingLossFuncOptions& options = {});  ///< as MarginRankingLoss
HEARTH_API Tensor cosine_embedding_loss(
    const Tensor& input1, const Tensor& input2, const Tensor& target,
    const CosineEmbeddingLossFuncOptions& options = {});  ///< as CosineEmbeddingLoss
HEARTH_API Tensor
multi_margin_loss(const Tensor& input, const Tensor& target,
                  const MultiMarginLossFuncOptions& options = {});  ///< as MultiMarginLoss
HEARTH_API Tensor multilabel_margin_loss(
    const Tensor& input, const Tensor& target,
    const MultilabelMarginLossFuncOptions& options = {});  ///< as MultiLabelMarginLoss
HEARTH_API Tensor
soft_margin_loss(const Tensor& input, const Tensor& target,
                 const SoftMarginLossFuncOptions& options = {});  ///< as SoftMarginLoss
HEARTH_API Tensor multilabel_soft_margin_loss(
    const Tensor& input, const Tensor& target,
    const MultilabelSoftMarginLossFuncOptions& options = {});  ///< as MultiLabelSoftMarginLoss
HEARTH_API Tensor
triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                    const TripletMarginLossFuncOptions& options = {});  ///< as TripletMarginLoss
/// As TripletMarginWithDistanceLoss.
HEARTH_API Tensor triplet_margin_with_distance_loss(
    const Tensor& anchor, const Tensor& positive, const Tensor& negative,
    const TripletMarginWithDistanceLossFuncOptions& options = {});

}  // namespace functional

}  // namespace hearth::nn
