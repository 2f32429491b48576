#pragma once

#include <tuple>

#include "hearth/optim/optimizer.h"

namespace hearth::optim {

struct HEARTH_API AdamWOptions : public OptimizerCloneableOptions<AdamWOptions> {
  AdamWOptions(double lr = 1e-3) : lr_(lr) {}
  HEARTH_ARG(double, lr) = 1e-3;
  using betas_t = std::tuple<double, double>;
  HEARTH_ARG(betas_t, betas) = {0.9, 0.999};
  HEARTH_ARG(double, eps) = 1e-8;
  HEARTH_ARG(double, weight_decay) = 1e-2;
  HEARTH_ARG(bool, amsgrad) = false;
  HEARTH_ARG(bool, maximize) = false;

 public:
  void fields(Fields& f) override;
  double get_lr() const override { return lr_; }
  void set_lr(double lr) override { lr_ = lr; }
  std::optional<double> get_momentum() const override { return std::get<0>(betas_); }
  void set_momentum(double momentum) override { std::get<0>(betas_) = momentum; }
};

struct HEARTH_API AdamWParamState : public OptimizerCloneableParamState<AdamWParamState> {
  HEARTH_ARG(int64_t, step) = 0;
  HEARTH_ARG(Tensor, exp_avg);
  HEARTH_ARG(Tensor, exp_avg_sq);
  HEARTH_ARG(Tensor, max_exp_avg_sq);

 public:
  void fields(Fields& f) override;
};

/// Adam whose weight decay is not part of the gradient: p -= lr weight_decay p.
class HEARTH_API AdamW : public Optimizer {
 public:
  explicit AdamW(const std::vector<OptimizerParamGroup>& param_groups, AdamWOptions defaults = {});
  explicit AdamW(std::vector<Tensor> params, AdamWOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

}  // namespace hearth::optim
