#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "hearth/nn/enum.h"
#include "hearth/nn/stateless.h"

// Losses: what each computes is said at the operator of the same name. `reduction` says what
// happens to the elements' losses: kMean, kSum, or kNone, which returns them.

namespace hearth::nn {

namespace detail {
using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
}

/// The constructors of options that may be given as a reduction alone.
#define HEARTH_FROM_REDUCTION(Options)                          \
  Options() = default;                                          \
  Options(enumtype::kNone reduction) : reduction_(reduction) {} \
  Options(enumtype::kMean reduction) : reduction_(reduction) {} \
  Options(enumtype::kSum reduction) : reduction_(reduction) {}

struct HEARTH_API MSELossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_FROM_REDUCTION(MSELossOptions)
  HEARTH_ARG(reduction_t, reduction) = kMean;
};
struct HEARTH_API L1LossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_FROM_REDUCTION(L1LossOptions)
  HEARTH_ARG(reduction_t, reduction) = kMean;
};
struct HEARTH_API SmoothL1LossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_FROM_REDUCTION(SmoothL1LossOptions)
  HEARTH_ARG(reduction_t, reduction) = kMean;
  /// 1 unless given.
  HEARTH_ARG(std::optional<double>, beta);
};
#undef HEARTH_FROM_REDUCTION
struct HEARTH_API BCELossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_ARG(Tensor, weight);
  HEARTH_ARG(reduction_t, reduction) = kMean;
};
struct HEARTH_API BCEWithLogitsLossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_ARG(Tensor, weight);
  HEARTH_ARG(reduction_t, reduction) = kMean;
  HEARTH_ARG(Tensor, pos_weight);
};
struct HEARTH_API NLLLossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_ARG(Tensor, weight);
  HEARTH_ARG(int64_t, ignore_index) = -100;
  HEARTH_ARG(reduction_t, reduction) = kMean;
};
struct HEARTH_API CrossEntropyLossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_ARG(Tensor, weight);
  HEARTH_ARG(int64_t, ignore_index) = -100;
  HEARTH_ARG(reduction_t, reduction) = kMean;
  HEARTH_ARG(double, label_smoothing) = 0.0;
};

namespace detail {

/// A loss with a weight per class, a buffer.
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

#define HEARTH_LOSS(Name, Base)                                                  \
  class HEARTH_API Name##Impl : public detail::Base<Name##Impl, Name##Options> { \
   public:                                                                       \
    using detail::Base<Name##Impl, Name##Options>::Base;                         \
    Tensor forward(const Tensor& input, const Tensor& target);                   \
    void pretty_print(std::ostream& stream) const override;                      \
  };                                                                             \
  HEARTH_MODULE(Name)

HEARTH_LOSS(MSELoss, Stateless);
HEARTH_LOSS(L1Loss, Stateless);
HEARTH_LOSS(SmoothL1Loss, Stateless);
HEARTH_LOSS(BCELoss, WeightedLoss);
HEARTH_LOSS(NLLLoss, WeightedLoss);
HEARTH_LOSS(CrossEntropyLoss, WeightedLoss);
#undef HEARTH_LOSS

class HEARTH_API BCEWithLogitsLossImpl : public Cloneable<BCEWithLogitsLossImpl> {
 public:
  explicit BCEWithLogitsLossImpl(BCEWithLogitsLossOptions options_ = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);
  void pretty_print(std::ostream& stream) const override;

  BCEWithLogitsLossOptions options;
  Tensor weight;
  Tensor pos_weight;
};
HEARTH_MODULE(BCEWithLogitsLoss);

namespace functional {

using MSELossFuncOptions = MSELossOptions;
using L1LossFuncOptions = L1LossOptions;
using SmoothL1LossFuncOptions = SmoothL1LossOptions;
using BinaryCrossEntropyFuncOptions = BCELossOptions;
using BinaryCrossEntropyWithLogitsFuncOptions = BCEWithLogitsLossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;

HEARTH_API Tensor mse_loss(const Tensor& input, const Tensor& target,
                           const MSELossFuncOptions& options = {});
HEARTH_API Tensor l1_loss(const Tensor& input, const Tensor& target,
                          const L1LossFuncOptions& options = {});
HEARTH_API Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                                 const SmoothL1LossFuncOptions& options = {});
HEARTH_API Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                                 const SmoothL1LossFuncOptions& options, double beta);
HEARTH_API Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                                       const BinaryCrossEntropyFuncOptions& options = {});
HEARTH_API Tensor
binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                 const BinaryCrossEntropyWithLogitsFuncOptions& options = {});
HEARTH_API Tensor nll_loss(const Tensor& input, const Tensor& target,
                           const NLLLossFuncOptions& options = {});
HEARTH_API Tensor cross_entropy(const Tensor& input, const Tensor& target,
                                const CrossEntropyFuncOptions& options = {});

}  // namespace functional

}  // namespace hearth::nn
