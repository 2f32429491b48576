#pragma once

#include "hearth/optim/declare.h"

namespace hearth::optim {

/// Options of RAdam. In its formulas, p is a parameter and g its gradient.
struct HEARTH_API RAdamOptions : public BetaOptions<RAdamOptions> {
  RAdamOptions(double lr = 1e-3) : lr_(lr) {}
  HEARTH_ARG(double, lr) = 1e-3;                     ///< learning rate
  HEARTH_ARG(betas_t, betas) = {0.9, 0.999};         ///< decay of the averages m and v
  HEARTH_ARG(double, eps) = 1e-8;                    ///< added to the denominator
  HEARTH_ARG(double, weight_decay) = 0;              ///< adds weight_decay * p to g
  HEARTH_ARG(bool, decoupled_weight_decay) = false;  ///< decays p, not g, as AdamW does
  HEARTH_ARG(bool, maximize) = false;                ///< ascends instead of descending

 public:
  void fields(Fields& f) override;
};
extern template class OptimizerCloneableOptions<RAdamOptions>;
extern template class RateOptions<RAdamOptions>;
extern template class BetaOptions<RAdamOptions>;

/// RAdam's state of one parameter.
struct HEARTH_API RAdamParamState : public OptimizerCloneableParamState<RAdamParamState> {
  HEARTH_ARG(int64_t, step) = 0;   ///< number of updates
  HEARTH_ARG(Tensor, exp_avg);     ///< m
  HEARTH_ARG(Tensor, exp_avg_sq);  ///< v

 public:
  void fields(Fields& f) override;
};

/// Adam whose first steps, in which v is uncertain, do not divide by sqrt(v); later the update is
/// multiplied by a factor that rectifies the variance of the learning rate.
class HEARTH_API RAdam : public Optimizer {
  HEARTH_OPTIMIZER(RAdam);
};

}  // namespace hearth::optim
