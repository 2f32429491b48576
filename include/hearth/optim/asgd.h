#pragma once

#include "hearth/optim/declare.h"

namespace hearth::optim {

/// Options of ASGD. In its formulas, p is a parameter and g its gradient.
struct HEARTH_API ASGDOptions : public RateOptions<ASGDOptions> {
  ASGDOptions(double lr = 1e-2) : lr_(lr) {}
  HEARTH_ARG(double, lr) = 1e-2;         ///< learning rate
  HEARTH_ARG(double, lambd) = 1e-4;      ///< adds lambd * p to g, and makes eta fall with the steps
  HEARTH_ARG(double, alpha) = 0.75;      ///< exponent in the formula of eta
  HEARTH_ARG(double, t0) = 1e6;          ///< the step at which averaging starts
  HEARTH_ARG(double, weight_decay) = 0;  ///< adds weight_decay * p to g
  HEARTH_ARG(bool, maximize) = false;    ///< ascends instead of descending

 public:
  void fields(Fields& f) override;
};
extern template class OptimizerCloneableOptions<ASGDOptions>;
extern template class RateOptions<ASGDOptions>;

/// ASGD's state of one parameter.
struct HEARTH_API ASGDParamState : public OptimizerCloneableParamState<ASGDParamState> {
  HEARTH_ARG(int64_t, step) = 0;  ///< number of updates
  HEARTH_ARG(double, eta) = 0;    ///< the next step's learning rate, in float32 as in PyTorch
  HEARTH_ARG(double, mu) = 1;     ///< the weight of p in the average, in float32, too
  HEARTH_ARG(Tensor, ax);         ///< the average of p

 public:
  void fields(Fields& f) override;
};

/// Averaged gradient descent: p -= eta * (g + lambd * p); ax += mu * (p - ax). Then
/// eta = lr / (1 + lambd * lr * step)^alpha and mu = 1 / max(1, step - t0).
class HEARTH_API ASGD : public Optimizer {
  HEARTH_OPTIMIZER(ASGD);
};

}  // namespace hearth::optim
