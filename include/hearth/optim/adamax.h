#pragma once

#include "hearth/optim/declare.h"

namespace hearth::optim {

/// Options of Adamax. In its formulas, p is a parameter and g its gradient.
struct HEARTH_API AdamaxOptions : public BetaOptions<AdamaxOptions> {
  AdamaxOptions(double lr = 2e-3) : lr_(lr) {}
  HEARTH_ARG(double, lr) = 2e-3;              ///< learning rate
  HEARTH_ARG(betas_t, betas) = {0.9, 0.999};  ///< decay of m and u
  HEARTH_ARG(double, eps) = 1e-8;             ///< added to |g|
  HEARTH_ARG(double, weight_decay) = 0;       ///< adds weight_decay * p to g
  HEARTH_ARG(bool, maximize) = false;         ///< ascends instead of descending

 public:
  void fields(Fields& f) override;
};
extern template class OptimizerCloneableOptions<AdamaxOptions>;
extern template class RateOptions<AdamaxOptions>;
extern template class BetaOptions<AdamaxOptions>;

/// Adamax' state of one parameter.
struct HEARTH_API AdamaxParamState : public OptimizerCloneableParamState<AdamaxParamState> {
  HEARTH_ARG(int64_t, step) = 0;  ///< number of updates
  HEARTH_ARG(Tensor, exp_avg);    ///< m
  HEARTH_ARG(Tensor, exp_inf);    ///< u

 public:
  void fields(Fields& f) override;
};

/// Adam with the infinity norm: m = beta1 * m + (1 - beta1) * g; u = max(beta2 * u, |g| + eps);
/// p -= lr / (1 - beta1^step) * m / u.
class HEARTH_API Adamax : public Optimizer {
  HEARTH_OPTIMIZER(Adamax);
};

}  // namespace hearth::optim
