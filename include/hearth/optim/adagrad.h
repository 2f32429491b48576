#pragma once

#include "hearth/optim/optimizer.h"

namespace hearth::optim {

/// Options of Adagrad. In its formulas, p is a parameter and g its gradient.
struct HEARTH_API AdagradOptions : public OptimizerCloneableOptions<AdagradOptions> {
  AdagradOptions(double lr = 1e-2) : lr_(lr) {}
  HEARTH_ARG(double, lr) = 1e-2;                      ///< learning rate
  HEARTH_ARG(double, lr_decay) = 0;                   ///< divides lr by 1 + (step - 1) * lr_decay
  HEARTH_ARG(double, weight_decay) = 0;               ///< adds weight_decay * p to g
  HEARTH_ARG(double, initial_accumulator_value) = 0;  ///< the initial s
  HEARTH_ARG(double, eps) = 1e-10;                    ///< added to the denominator
  HEARTH_ARG(bool, maximize) = false;                 ///< ascends instead of descending

 public:
  void fields(Fields& f) override;
  double get_lr() const override { return lr_; }
  void set_lr(double lr) override { lr_ = lr; }
};

extern template class OptimizerCloneableOptions<AdagradOptions>;

/// Adagrad's state of one parameter.
struct HEARTH_API AdagradParamState : public OptimizerCloneableParamState<AdagradParamState> {
  HEARTH_ARG(Tensor, sum);        ///< s
  HEARTH_ARG(int64_t, step) = 0;  ///< number of updates

 public:
  void fields(Fields& f) override;
};

/// Adagrad: s += g^2; p -= lr / (1 + (step - 1) * lr_decay) * g / (sqrt(s) + eps).
class HEARTH_API Adagrad : public Optimizer {
 public:
  explicit Adagrad(const std::vector<OptimizerParamGroup>& param_groups,
                   AdagradOptions defaults = {});
  explicit Adagrad(std::vector<Tensor> params, AdagradOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

}  // namespace hearth::optim
