#pragma once

#include "hearth/optim/optimizer.h"

namespace hearth::optim {

/// Options of RMSprop. In its formulas, p is a parameter and g its gradient.
struct HEARTH_API RMSpropOptions : public OptimizerCloneableOptions<RMSpropOptions> {
  RMSpropOptions(double lr = 1e-2) : lr_(lr) {}
  HEARTH_ARG(double, lr) = 1e-2;         ///< learning rate
  HEARTH_ARG(double, alpha) = 0.99;      ///< decay of the average of g^2
  HEARTH_ARG(double, eps) = 1e-8;        ///< added to the denominator
  HEARTH_ARG(double, weight_decay) = 0;  ///< adds weight_decay * p to g
  HEARTH_ARG(double, momentum) = 0;      ///< decay of the momentum buffer b
  HEARTH_ARG(bool, centered) = false;    ///< divides by the standard deviation of g
  HEARTH_ARG(bool, maximize) = false;    ///< ascends instead of descending

 public:
  void fields(Fields& f) override;
  double get_lr() const override { return lr_; }
  void set_lr(double lr) override { lr_ = lr; }
  std::optional<double> get_momentum() const override { return momentum_; }
  void set_momentum(double momentum) override { momentum_ = momentum; }
};

extern template class OptimizerCloneableOptions<RMSpropOptions>;

/// RMSprop's state of one parameter.
struct HEARTH_API RMSpropParamState : public OptimizerCloneableParamState<RMSpropParamState> {
  HEARTH_ARG(int64_t, step) = 0;        ///< number of updates
  HEARTH_ARG(Tensor, square_avg);       ///< s
  HEARTH_ARG(Tensor, momentum_buffer);  ///< b
  HEARTH_ARG(Tensor, grad_avg);         ///< mean(g), if centered

 public:
  void fields(Fields& f) override;
};

/// RMSprop: s = alpha * s + (1 - alpha) * g^2; p -= lr * g / (sqrt(s) + eps). If centered, s -
/// mean(g)^2 replaces s in the update. With momentum, b = momentum * b + g / (sqrt(s) + eps); p -=
/// lr * b.
class HEARTH_API RMSprop : public Optimizer {
 public:
  explicit RMSprop(const std::vector<OptimizerParamGroup>& param_groups,
                   RMSpropOptions defaults = {});
  explicit RMSprop(std::vector<Tensor> params, RMSpropOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

}  // namespace hearth::optim
