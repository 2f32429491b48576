#pragma once

#include "hearth/optim/declare.h"

namespace hearth::optim {

/// Options of Adadelta. In the formulas (see Adadelta below), p is a parameter, g its gradient, v
/// the average of g^2 and u that of d^2, the squared updates.
struct HEARTH_API AdadeltaOptions : public RateOptions<AdadeltaOptions> {
  AdadeltaOptions(double lr = 1.0) : lr_(lr) {}
  HEARTH_ARG(double, lr) = 1.0;          ///< multiplies the update
  HEARTH_ARG(double, rho) = 0.9;         ///< decay of the averages v and u
  HEARTH_ARG(double, eps) = 1e-6;        ///< added to v and u
  HEARTH_ARG(double, weight_decay) = 0;  ///< adds weight_decay * p to g
  HEARTH_ARG(bool, maximize) = false;    ///< ascends instead of descending

 public:
  void fields(Fields& f) override;
};
extern template class OptimizerCloneableOptions<AdadeltaOptions>;
extern template class RateOptions<AdadeltaOptions>;

/// Adadelta's state of one parameter.
struct HEARTH_API AdadeltaParamState : public OptimizerCloneableParamState<AdadeltaParamState> {
  HEARTH_ARG(int64_t, step) = 0;   ///< number of updates
  HEARTH_ARG(Tensor, square_avg);  ///< v
  HEARTH_ARG(Tensor, acc_delta);   ///< u

 public:
  void fields(Fields& f) override;
};

/// Adadelta: v = rho * v + (1 - rho) * g^2; d = g * sqrt(u + eps) / sqrt(v + eps);
/// u = rho * u + (1 - rho) * d^2; p -= lr * d.
class HEARTH_API Adadelta : public Optimizer {
  HEARTH_OPTIMIZER(Adadelta);
};

}  // namespace hearth::optim
