#pragma once

#include <optional>
#include <utility>

#include "hearth/optim/declare.h"

namespace hearth::optim {

/// Options of Adafactor. In its formulas, p is a parameter and g its gradient.
struct HEARTH_API AdafactorOptions : public RateOptions<AdafactorOptions> {
  AdafactorOptions(double lr = 1e-2) : lr_(lr) {}
  using eps_t = std::pair<std::optional<double>, double>;
  HEARTH_ARG(double, lr) = 1e-2;           ///< the largest relative step size; scales weight decay
  HEARTH_ARG(double, beta2_decay) = -0.8;  ///< the averages' decay is 1 - step^beta2_decay
  /// eps1, the lower bound of sqrt(v) (nullopt: the dtype's epsilon), and eps2, the lower bound of
  /// rms(p).
  HEARTH_ARG(eps_t, eps) = {std::nullopt, 1e-3};
  HEARTH_ARG(double, d) = 1.0;           ///< the upper bound of rms(u)
  HEARTH_ARG(double, weight_decay) = 0;  ///< p -= lr * weight_decay * p before each update
  HEARTH_ARG(bool, maximize) = false;    ///< ascends instead of descending

 public:
  void fields(Fields& f) override;
};
extern template class OptimizerCloneableOptions<AdafactorOptions>;
extern template class RateOptions<AdafactorOptions>;

/// Adafactor's state of one parameter: moving averages of g^2 (for matrices, of its means over rows
/// and over columns).
struct HEARTH_API AdafactorParamState : public OptimizerCloneableParamState<AdafactorParamState> {
  HEARTH_ARG(int64_t, step) = 0;  ///< number of updates
  HEARTH_ARG(Tensor, row_var);    ///< [..., n, 1] for a parameter [..., n, m]
  HEARTH_ARG(Tensor, col_var);    ///< [..., 1, m]
  HEARTH_ARG(Tensor, variance);   ///< of parameters with fewer than two dimensions

 public:
  void fields(Fields& f) override;
  bool fits(const std::string& name, const Tensor& value, const Tensor& param) const override;
};

/// Adaptive rates with a second moment v, which for matrices is estimated from its row and column
/// means: u = g / max(sqrt(v), eps1); u /= max(1, rms(u) / d); p -= rho * max(eps2, rms(p)) * u,
/// where rho = min(lr, 1 / sqrt(step)) and rms is the root mean square.
class HEARTH_API Adafactor : public Optimizer {
  HEARTH_OPTIMIZER(Adafactor);
};

}  // namespace hearth::optim
