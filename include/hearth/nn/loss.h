#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "hearth/nn/enum.h"
#include "hearth/nn/stateless.h"

// Losses of an input x and a target y of the same shape, or class indices y. `reduction` is kMean,
// kSum, or kNone, which returns all losses.
namespace hearth::nn {

namespace detail {
using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
}

/// Constructors of options from a reduction.
#define HEARTH_FROM_REDUCTION(Options)                          \
  Options() = default;                                          \
  Options(enumtype::kNone reduction) : reduction_(reduction) {} \
  Options(enumtype::kMean reduction) : reduction_(reduction) {} \
  Options(enumtype::kSum reduction) : reduction_(reduction) {}

/// Options of MSELoss.
struct HEARTH_API MSELossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_FROM_REDUCTION(MSELossOptions)
  HEARTH_CHOICE(reduction_t, reduction) = kMean;  ///< kMean, kSum or kNone
};
/// Options of L1Loss.
struct HEARTH_API L1LossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_FROM_REDUCTION(L1LossOptions)
  HEARTH_CHOICE(reduction_t, reduction) = kMean;  ///< kMean, kSum or kNone
};
/// Options of SmoothL1Loss.
struct HEARTH_API SmoothL1LossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_FROM_REDUCTION(SmoothL1LossOptions)
  HEARTH_CHOICE(reduction_t, reduction) = kMean;  ///< kMean, kSum or kNone
  HEARTH_ARG(std::optional<double>, beta);  ///< |x - y| where the loss turns linear; default: 1
};
/// Options of HuberLoss.
struct HEARTH_API HuberLossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_FROM_REDUCTION(HuberLossOptions)
  HEARTH_CHOICE(reduction_t, reduction) = kMean;  ///< kMean, kSum or kNone
  HEARTH_ARG(double, delta) = 1.0;                ///< |x - y| where the loss turns linear
};
/// Options of KLDivLoss.
struct HEARTH_API KLDivLossOptions {
  using reduction_t =
      std::variant<enumtype::kNone, enumtype::kBatchMean, enumtype::kSum, enumtype::kMean>;
  HEARTH_FROM_REDUCTION(KLDivLossOptions)
  KLDivLossOptions(enumtype::kBatchMean reduction) : reduction_(reduction) {}
  /// kMean, kSum, kNone, or kBatchMean: the sum divided by the number of samples.
  HEARTH_CHOICE(reduction_t, reduction) = kMean;
  HEARTH_ARG(bool, log_target) = false;  ///< whether the target is given as its logarithm
};
/// Options of BCELoss.
struct HEARTH_API BCELossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_ARG(Tensor, weight);                     ///< factors of the elements' losses
  HEARTH_CHOICE(reduction_t, reduction) = kMean;  ///< kMean, kSum or kNone
};
/// Options of BCEWithLogitsLoss.
struct HEARTH_API BCEWithLogitsLossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_ARG(Tensor, weight);                     ///< factors of the elements' losses
  HEARTH_CHOICE(reduction_t, reduction) = kMean;  ///< kMean, kSum or kNone
  HEARTH_ARG(Tensor, pos_weight);                 ///< factors of the terms y * log(…)
};
/// Options of NLLLoss.
struct HEARTH_API NLLLossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_ARG(Tensor, weight);                     ///< factors of the classes
  HEARTH_ARG(int64_t, ignore_index) = -100;       ///< a target that is ignored
  HEARTH_CHOICE(reduction_t, reduction) = kMean;  ///< kMean, kSum or kNone
};
/// Options of CrossEntropyLoss.
struct HEARTH_API CrossEntropyLossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_ARG(Tensor, weight);                     ///< factors of the classes
  HEARTH_ARG(int64_t, ignore_index) = -100;       ///< a target that is ignored
  HEARTH_CHOICE(reduction_t, reduction) = kMean;  ///< kMean, kSum or kNone
  HEARTH_ARG(double, label_smoothing) = 0.0;      ///< share of the target spread over all classes
};

namespace detail {

/// Base of losses with the buffer `weight`.
template <class Derived, class Options>
class WeightedLoss : public Cloneable<Derived> {
 public:
  explicit WeightedLoss(Options options_ = {}) : options(std::move(options_)) {
    WeightedLoss::reset();
  }
  void reset() override { weight = this->register_buffer("weight", options.weight()); }

  Options options;
  Tensor weight;
};

}  // namespace detail

/// Declares a loss of an input and a target: the class NameImpl, whose base detail::Base holds the
/// options and is Stateless or WeightedLoss, and its holder Name.
#define HEARTH_LOSS(Name, Base)                                                  \
  class HEARTH_API Name##Impl : public detail::Base<Name##Impl, Name##Options> { \
   public:                                                                       \
    using detail::Base<Name##Impl, Name##Options>::Base;                         \
    Tensor forward(const Tensor& input, const Tensor& target);                   \
    void pretty_print(std::ostream& stream) const override;                      \
  };                                                                             \
  HEARTH_MODULE(Name)

/// (x - y)^2.
HEARTH_LOSS(MSELoss, Stateless);
/// |x - y|.
HEARTH_LOSS(L1Loss, Stateless);
/// (x - y)^2 / (2 * beta) if |x - y| < beta, else |x - y| - beta / 2.
HEARTH_LOSS(SmoothL1Loss, Stateless);
/// -y * log(x) - (1 - y) * log(1 - x) for probabilities x.
HEARTH_LOSS(BCELoss, WeightedLoss);
/// -x[y] for log-probabilities x, [N, C, …] or [C], and class indices y, [N, …] or [].
HEARTH_LOSS(NLLLoss, WeightedLoss);
/// NLLLoss of log_softmax(x), or -sum(y * log_softmax(x)) for class probabilities y.
HEARTH_LOSS(CrossEntropyLoss, WeightedLoss);
/// (x - y)^2 / 2 if |x - y| <= delta, else delta * (|x - y| - delta / 2).
HEARTH_LOSS(HuberLoss, Stateless);
/// y * (log(y) - x) for log-probabilities x, or exp(y) * (y - x) with log_target.
HEARTH_LOSS(KLDivLoss, Stateless);

/// BCELoss of sigmoid(x), computed without overflow.
class HEARTH_API BCEWithLogitsLossImpl : public Cloneable<BCEWithLogitsLossImpl> {
 public:
  explicit BCEWithLogitsLossImpl(BCEWithLogitsLossOptions options_ = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);
  void pretty_print(std::ostream& stream) const override;

  BCEWithLogitsLossOptions options;
  Tensor weight;
  Tensor pos_weight;  ///< a buffer, or undefined
};
HEARTH_MODULE(BCEWithLogitsLoss);

namespace functional {

using MSELossFuncOptions = MSELossOptions;             ///< options of mse_loss
using L1LossFuncOptions = L1LossOptions;               ///< options of l1_loss
using SmoothL1LossFuncOptions = SmoothL1LossOptions;   ///< options of smooth_l1_loss
using BinaryCrossEntropyFuncOptions = BCELossOptions;  ///< options of binary_cross_entropy
/// Options of binary_cross_entropy_with_logits.
using BinaryCrossEntropyWithLogitsFuncOptions = BCEWithLogitsLossOptions;
using NLLLossFuncOptions = NLLLossOptions;                ///< options of nll_loss
using CrossEntropyFuncOptions = CrossEntropyLossOptions;  ///< options of cross_entropy
using HuberLossFuncOptions = HuberLossOptions;            ///< options of huber_loss
using KLDivFuncOptions = KLDivLossOptions;                ///< options of kl_div

// The modules above as functions.
HEARTH_API Tensor mse_loss(const Tensor& input, const Tensor& target,
                           const MSELossFuncOptions& options = {});  ///< as MSELoss
HEARTH_API Tensor l1_loss(const Tensor& input, const Tensor& target,
                          const L1LossFuncOptions& options = {});  ///< as L1Loss
HEARTH_API Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                                 const SmoothL1LossFuncOptions& options = {});  ///< as SmoothL1Loss
/// As SmoothL1Loss with this beta; the options must have none.
HEARTH_API Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                                 const SmoothL1LossFuncOptions& options, double beta);
/// As BCELoss.
HEARTH_API Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                                       const BinaryCrossEntropyFuncOptions& options = {});
/// As BCEWithLogitsLoss.
HEARTH_API Tensor
binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                 const BinaryCrossEntropyWithLogitsFuncOptions& options = {});
HEARTH_API Tensor nll_loss(const Tensor& input, const Tensor& target,
                           const NLLLossFuncOptions& options = {});  ///< as NLLLoss
/// As CrossEntropyLoss.
HEARTH_API Tensor cross_entropy(const Tensor& input, const Tensor& target,
                                const CrossEntropyFuncOptions& options = {});
HEARTH_API Tensor huber_loss(const Tensor& input, const Tensor& target,
                             const HuberLossFuncOptions& options = {});  ///< as HuberLoss
HEARTH_API Tensor kl_div(const Tensor& input, const Tensor& target,
                         const KLDivFuncOptions& options = {});  ///< as KLDivLoss
/// SmoothL1Loss of each element.
HEARTH_API Tensor _smooth_l1_loss(const Tensor& input, const Tensor& target, double beta = 1.);

}  // namespace functional

}  // namespace hearth::nn
