#pragma once

#include <tuple>

#include "hearth/optim/optimizer.h"

namespace hearth::optim {

struct HEARTH_API AdamOptions : public OptimizerCloneableOptions<AdamOptions> {
  AdamOptions(double lr = 1e-3) : lr_(lr) {}
  HEARTH_ARG(double, lr) = 1e-3;
  using betas_t = std::tuple<double, double>;
  HEARTH_ARG(betas_t, betas) = {0.9, 0.999};
  HEARTH_ARG(double, eps) = 1e-8;
  HEARTH_ARG(double, weight_decay) = 0;
  HEARTH_ARG(bool, amsgrad) = false;
  HEARTH_ARG(bool, maximize) = false;

 public:
  void fields(Fields& f) override;
  double get_lr() const override { return lr_; }
  void set_lr(double lr) override { lr_ = lr; }
  std::optional<double> get_momentum() const override { return std::get<0>(betas_); }
  void set_momentum(double momentum) override { std::get<0>(betas_) = momentum; }
};

struct HEARTH_API AdamParamState : public OptimizerCloneableParamState<AdamParamState> {
  HEARTH_ARG(int64_t, step) = 0;
  HEARTH_ARG(Tensor, exp_avg);
  HEARTH_ARG(Tensor, exp_avg_sq);
  HEARTH_ARG(Tensor, max_exp_avg_sq);

 public:
  void fields(Fields& f) override;
};

/// m = beta1 m + (1 - beta1) g and v = beta2 v + (1 - beta2) g^2, both divided by 1 - beta^step;
/// p -= lr m / (sqrt(v) + eps), with amsgrad for the largest v so far. Weight decay is added to g.
class HEARTH_API Adam : public Optimizer {
 public:
  explicit Adam(const std::vector<OptimizerParamGroup>& param_groups, AdamOptions defaults = {});
  explicit Adam(std::vector<Tensor> params, AdamOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

}  // namespace hearth::optim
