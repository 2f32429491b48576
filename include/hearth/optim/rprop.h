#pragma once

#include "hearth/optim/declare.h"

namespace hearth::optim {

/// Options of Rprop. In its formulas, p is a parameter and g its gradient.
struct HEARTH_API RpropOptions : public RateOptions<RpropOptions> {
  RpropOptions(double lr = 1e-2) : lr_(lr) {}
  using pair_t = std::tuple<double, double>;
  HEARTH_ARG(double, lr) = 1e-2;                ///< the first step size
  HEARTH_ARG(pair_t, etas) = {0.5, 1.2};        ///< factors that shrink and grow a step size
  HEARTH_ARG(pair_t, step_sizes) = {1e-6, 50};  ///< the smallest and the largest step size
  HEARTH_ARG(bool, maximize) = false;           ///< ascends instead of descending

 public:
  void fields(Fields& f) override;
};
extern template class OptimizerCloneableOptions<RpropOptions>;
extern template class RateOptions<RpropOptions>;

/// Rprop's state of one parameter.
struct HEARTH_API RpropParamState : public OptimizerCloneableParamState<RpropParamState> {
  HEARTH_ARG(int64_t, step) = 0;  ///< number of updates
  HEARTH_ARG(Tensor, prev);       ///< the previous gradient, 0 where its sign had changed
  HEARTH_ARG(Tensor, step_size);  ///< of each element

 public:
  void fields(Fields& f) override;
};

/// Resilient backpropagation: p -= s * sign(g), with a step size s for each element, which grows
/// while the element's gradient keeps its sign. Where the sign changes, s shrinks and p stays for
/// one step.
class HEARTH_API Rprop : public Optimizer {
  HEARTH_OPTIMIZER(Rprop);
};

}  // namespace hearth::optim
