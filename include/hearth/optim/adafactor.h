#pragma once

#include "hearth/optim/declare.h"

namespace hearth::optim {

/// Options of Adafactor.
struct HEARTH_API AdafactorOptions : public RateOptions<AdafactorOptions> {
  AdafactorOptions(double lr = 1e-2) : lr_(lr) {}
  using eps_t = std::tuple<std::optional<double>, double>;
  HEARTH_ARG(double, lr) = 1e-2;           ///< the largest relative step size; scales weight decay
  HEARTH_ARG(double, beta2_decay) = -0.8;  ///< the averages' decay is 1 - step^beta2_decay
  /// The smallest root of the variance (nullopt: the dtype's epsilon), and the smallest root mean
  /// square of p that scales the step.
  HEARTH_ARG(eps_t, eps) = {std::nullopt, 1e-3};
  HEARTH_ARG(double, d) = 1.0;           ///< the largest root mean square of an update
  HEARTH_ARG(double, weight_decay) = 0;  ///< p -= lr weight_decay p before each update
  HEARTH_ARG(bool, maximize) = false;    ///< ascends instead of descending

 public:
  void fields(Fields& f) override;
};
extern template class OptimizerCloneableOptions<AdafactorOptions>;
extern template class RateOptions<AdafactorOptions>;

/// Adafactor's state of one parameter: the means of g^2 over rows and columns, or of a vector g^2.
struct HEARTH_API AdafactorParamState : public OptimizerCloneableParamState<AdafactorParamState> {
  HEARTH_ARG(int64_t, step) = 0;  ///< number of updates
  HEARTH_ARG(Tensor, row_var);    ///< [..., n, 1] for a parameter [..., n, m]
  HEARTH_ARG(Tensor, col_var);    ///< [..., 1, m]
  HEARTH_ARG(Tensor, variance);   ///< of parameters with fewer than two dimensions

 public:
  void fields(Fields& f) override;
  bool fits(const std::string& name, const Tensor& value, const Tensor& param) const override;
};

/// Adaptive rates with a factored second moment: v is estimated by its rows' and columns' means.
/// u = g / max(sqrt(v), eps1) is limited to the root mean square d, and p -= rho max(eps2, rms(p))
/// u for rho = min(lr, 1 / sqrt(step)).
class HEARTH_API Adafactor : public Optimizer {
  HEARTH_OPTIMIZER(Adafactor);
};

}  // namespace hearth::optim
