#pragma once

#include "hearth/optim/declare.h"

namespace hearth::optim {

/// Options of NAdam. In its formulas, p is a parameter and g its gradient.
struct HEARTH_API NAdamOptions : public BetaOptions<NAdamOptions> {
  NAdamOptions(double lr = 2e-3) : lr_(lr) {}
  HEARTH_ARG(double, lr) = 2e-3;                     ///< learning rate
  HEARTH_ARG(betas_t, betas) = {0.9, 0.999};         ///< decay of the averages m and v
  HEARTH_ARG(double, eps) = 1e-8;                    ///< added to the denominator
  HEARTH_ARG(double, weight_decay) = 0;              ///< adds weight_decay * p to g
  HEARTH_ARG(double, momentum_decay) = 4e-3;         ///< speed of mu's growth to beta1
  HEARTH_ARG(bool, decoupled_weight_decay) = false;  ///< decays p, not g, as AdamW does
  HEARTH_ARG(bool, maximize) = false;                ///< ascends instead of descending

 public:
  void fields(Fields& f) override;
};
extern template class OptimizerCloneableOptions<NAdamOptions>;
extern template class RateOptions<NAdamOptions>;
extern template class BetaOptions<NAdamOptions>;

/// NAdam's state of one parameter.
struct HEARTH_API NAdamParamState : public OptimizerCloneableParamState<NAdamParamState> {
  HEARTH_ARG(int64_t, step) = 0;       ///< number of updates
  HEARTH_ARG(double, mu_product) = 1;  ///< the product of mu over all steps, in float32
  HEARTH_ARG(Tensor, exp_avg);         ///< m
  HEARTH_ARG(Tensor, exp_avg_sq);      ///< v

 public:
  void fields(Fields& f) override;
};

/// Adam with Nesterov momentum. With Adam's m and v, and the momentum
/// mu = beta1 * (1 - 0.96^(t * momentum_decay) / 2) of step t, mu' of step t + 1:
/// u = (1 - mu) * g / (1 - mu_product) + mu' * m / (1 - mu_product * mu');
/// p -= lr * u / (sqrt(v / (1 - beta2^t)) + eps).
class HEARTH_API NAdam : public Optimizer {
  HEARTH_OPTIMIZER(NAdam);
};

}  // namespace hearth::optim
