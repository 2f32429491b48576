#pragma once

#include "hearth/optim/optimizer.h"

namespace hearth::optim {

/// Options of SGD. In its formulas, p is a parameter and g its gradient.
struct HEARTH_API SGDOptions : public OptimizerCloneableOptions<SGDOptions> {
  SGDOptions(double lr) : lr_(lr) {}
  HEARTH_ARG(double, lr);                ///< learning rate
  HEARTH_ARG(double, momentum) = 0;      ///< decay of the momentum buffer b
  HEARTH_ARG(double, dampening) = 0;     ///< see the formula of SGD
  HEARTH_ARG(double, weight_decay) = 0;  ///< adds weight_decay * p to g
  HEARTH_ARG(bool, nesterov) = false;    ///< Nesterov momentum
  HEARTH_ARG(bool, maximize) = false;    ///< ascends instead of descending

 public:
  void fields(Fields& f) override;
  double get_lr() const override { return lr_; }
  void set_lr(double lr) override { lr_ = lr; }
  std::optional<double> get_momentum() const override { return momentum_; }
  void set_momentum(double momentum) override { momentum_ = momentum; }
  hearth::detail::OwnedPtr<OptimizerOptions> unset() const override;
};

extern template class OptimizerCloneableOptions<SGDOptions>;

/// SGD's state of one parameter.
struct HEARTH_API SGDParamState : public OptimizerCloneableParamState<SGDParamState> {
  HEARTH_ARG(Tensor, momentum_buffer);  ///< b

 public:
  void fields(Fields& f) override;
};

/// Stochastic gradient descent: g += weight_decay * p; without momentum p -= lr * g. With momentum,
/// b = momentum * b + (1 - dampening) * g, or g in the first step; p -= lr * b, or with Nesterov
/// momentum p -= lr * (g + momentum * b). `maximize` negates g.
class HEARTH_API SGD : public Optimizer {
 public:
  SGD(const std::vector<OptimizerParamGroup>& param_groups, SGDOptions defaults);
  SGD(std::vector<Tensor> params, SGDOptions defaults);
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

}  // namespace hearth::optim
