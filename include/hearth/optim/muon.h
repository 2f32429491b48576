#pragma once

#include <array>
#include <string>

#include "hearth/optim/declare.h"

namespace hearth::optim {

/// Options of Muon. In its formulas, p is a parameter and g its gradient.
struct HEARTH_API MuonOptions : public RateOptions<MuonOptions> {
  MuonOptions(double lr = 1e-3) : lr_(lr) {}
  using coefficients_t = std::array<double, 3>;
  HEARTH_ARG(double, lr) = 1e-3;           ///< learning rate
  HEARTH_ARG(double, weight_decay) = 0.1;  ///< p -= lr * weight_decay * p before each update
  HEARTH_ARG(double, momentum) = 0.95;     ///< decay of the average m of the gradients
  HEARTH_ARG(bool, nesterov) = true;       ///< momentum * m + (1 - momentum) * g replaces m
  HEARTH_ARG(coefficients_t, ns_coefficients) = {3.4445, -4.7750, 2.0315};  ///< a, b, c
  HEARTH_ARG(double, eps) = 1e-7;     ///< the least norm by which O() divides
  HEARTH_ARG(int64_t, ns_steps) = 5;  ///< iterations of O()
  /// The factor of lr for a parameter [rows, cols]: "original" (the default): sqrt(max(1, rows /
  /// cols)); "match_rms_adamw": 0.2 * sqrt(max(rows, cols)); "spectral_unclamped": sqrt(rows /
  /// cols).
  HEARTH_ARG(std::optional<std::string>, adjust_lr_fn);

 public:
  void fields(Fields& f) override;
  std::optional<double> get_momentum() const override { return momentum_; }
  void set_momentum(double momentum) override { momentum_ = momentum; }
};
extern template class OptimizerCloneableOptions<MuonOptions>;
extern template class RateOptions<MuonOptions>;

/// Muon's state of one parameter.
struct HEARTH_API MuonParamState : public OptimizerCloneableParamState<MuonParamState> {
  HEARTH_ARG(Tensor, momentum_buffer);  ///< m

 public:
  void fields(Fields& f) override;
};

/// Updates matrices by their orthogonalized momentum: p -= lr * factor * O(m). O(x) is x with all
/// singular values near 1, found in bfloat16: x is divided by its norm, and then replaced ns_steps
/// times by a * x + (b * y + c * y^2) * x, where y = x * x^T.
class HEARTH_API Muon : public Optimizer {
  HEARTH_OPTIMIZER(Muon);
};

}  // namespace hearth::optim
