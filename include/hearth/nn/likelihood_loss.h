#pragma once

#include <cstdint>

#include "hearth/nn/loss.h"

// Negative logarithms of likelihoods. x, y and `reduction` are as in nn/loss.h.
namespace hearth::nn {

/// Options of PoissonNLLLoss.
struct HEARTH_API PoissonNLLLossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_ARG(bool, log_input) = true;             ///< whether the input is the rate's logarithm
  HEARTH_ARG(bool, full) = false;                 ///< whether an approximation of log(y!) is added
  HEARTH_ARG(double, eps) = 1e-8;                 ///< added to rates before their logarithm
  HEARTH_CHOICE(reduction_t, reduction) = kMean;  ///< kMean, kSum or kNone
};
/// Options of GaussianNLLLoss.
struct HEARTH_API GaussianNLLLossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_ARG(bool, full) = false;                 ///< whether the constant log(2 * pi) / 2 is added
  HEARTH_ARG(double, eps) = 1e-6;                 ///< the least variance
  HEARTH_CHOICE(reduction_t, reduction) = kMean;  ///< kMean, kSum or kNone
};
/// Options of CTCLoss.
struct HEARTH_API CTCLossOptions {
  using reduction_t = detail::reduction_t;
  HEARTH_ARG(int64_t, blank) = 0;                 ///< the class that stands for no label
  HEARTH_CHOICE(reduction_t, reduction) = kMean;  ///< kMean, kSum or kNone
  HEARTH_ARG(bool, zero_infinity) = false;        ///< whether infinite losses count as 0
};

/// exp(x) - y * x, or x - y * log(x + eps) without log_input.
HEARTH_LOSS(PoissonNLLLoss, Stateless);

/// (log(var) + (x - y)^2 / var) / 2 for means x and variances var. var has the sizes of x, but the
/// last size may be 1 or absent.
class HEARTH_API GaussianNLLLossImpl
    : public detail::Stateless<GaussianNLLLossImpl, GaussianNLLLossOptions> {
 public:
  using detail::Stateless<GaussianNLLLossImpl, GaussianNLLLossOptions>::Stateless;
  Tensor forward(const Tensor& input, const Tensor& target, const Tensor& var);
  void pretty_print(std::ostream& stream) const override;
};
HEARTH_MODULE(GaussianNLLLoss);

/// Connectionist temporal classification: see functional::ctc_loss.
class HEARTH_API CTCLossImpl : public detail::Stateless<CTCLossImpl, CTCLossOptions> {
 public:
  using detail::Stateless<CTCLossImpl, CTCLossOptions>::Stateless;
  Tensor forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                 const Tensor& target_lengths);
  void pretty_print(std::ostream& stream) const override;
};
HEARTH_MODULE(CTCLoss);

namespace functional {

using PoissonNLLLossFuncOptions = PoissonNLLLossOptions;    ///< options of poisson_nll_loss
using GaussianNLLLossFuncOptions = GaussianNLLLossOptions;  ///< options of gaussian_nll_loss
using CTCLossFuncOptions = CTCLossOptions;                  ///< options of ctc_loss

HEARTH_API Tensor
poisson_nll_loss(const Tensor& input, const Tensor& target,
                 const PoissonNLLLossFuncOptions& options = {});  ///< as PoissonNLLLoss
/// As GaussianNLLLoss; var may be one number.
HEARTH_API Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var,
                                    const GaussianNLLLossFuncOptions& options = {});
HEARTH_API Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, double var,
                                    const GaussianNLLLossFuncOptions& options = {});
/// -log of the total probability of all alignments of a sequence's targets under log_probs, [time,
/// batch, classes] or [time, classes]. `targets` is [batch, longest target sequence] or the
/// concatenation of the sequences.
HEARTH_API Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets,
                           const Tensor& input_lengths, const Tensor& target_lengths,
                           const CTCLossFuncOptions& options = {});

}  // namespace functional

}  // namespace hearth::nn
