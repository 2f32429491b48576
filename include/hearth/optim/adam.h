#pragma once

#include <tuple>

#include "hearth/optim/optimizer.h"

namespace hearth::optim {

/// Options of Adam, or of AdamW if kDecoupled (weight decay applied to the parameter p, not to the
/// gradient g).
template <bool kDecoupled>
struct HEARTH_API BasicAdamOptions
    : public OptimizerCloneableOptions<BasicAdamOptions<kDecoupled>> {
  BasicAdamOptions(double lr = 1e-3) : lr_(lr) {}
  HEARTH_ARG(double, lr) = 1e-3;  ///< learning rate
  using betas_t = std::tuple<double, double>;
  HEARTH_ARG(betas_t, betas) = {0.9, 0.999};                 ///< decay of the averages m and v
  HEARTH_ARG(double, eps) = 1e-8;                            ///< added to the denominator
  HEARTH_ARG(double, weight_decay) = kDecoupled ? 1e-2 : 0;  ///< see Adam and AdamW
  HEARTH_ARG(bool, amsgrad) = false;                         ///< divides by the largest v so far
  HEARTH_ARG(bool, maximize) = false;                        ///< ascends instead of descending
  HEARTH_ARG(bool, decoupled_weight_decay) = kDecoupled;     ///< decays p, not g: AdamW
  HEARTH_ARG(bool, capturable) = false;  ///< counts steps on the GPU, for cuda::Graph

 public:
  void fields(Fields& f) override;
  double get_lr() const override { return lr_; }
  void set_lr(double lr) override { lr_ = lr; }
  std::optional<double> get_momentum() const override { return std::get<0>(betas_); }
  void set_momentum(double momentum) override { std::get<0>(betas_) = momentum; }
};
extern template struct BasicAdamOptions<false>;
extern template struct BasicAdamOptions<true>;
using AdamOptions = BasicAdamOptions<false>;  ///< options of Adam

/// The state of Adam and AdamW for one parameter: m, v and the largest v.
struct HEARTH_API AdamParamState : public OptimizerCloneableParamState<AdamParamState> {
  HEARTH_ARG(Tensor, device_step);     ///< if capturable, the number of updates on the GPU
  HEARTH_ARG(Tensor, exp_avg);         ///< m
  HEARTH_ARG(Tensor, exp_avg_sq);      ///< v
  HEARTH_ARG(Tensor, max_exp_avg_sq);  ///< the largest v, with amsgrad

 public:
  /// Number of updates, with those by replays of a graph. If capturable, the number is on the GPU:
  /// step() waits for it, and only step(new_step) changes it.
  int64_t step() const;
  int64_t& step();
  AdamParamState& step(int64_t new_step);
  void fields(Fields& f) override;

 private:
  int64_t step_ = 0;  // not up to date while device_step_ is defined
};

/// Adam: m = beta1 * m + (1 - beta1) * g; v = beta2 * v + (1 - beta2) * g^2;
/// p -= lr * m' / (sqrt(v') + eps), where m' = m / (1 - beta1^step), v' = v / (1 - beta2^step).
/// Weight decay adds weight_decay * p to g.
class HEARTH_API Adam : public Optimizer {
 public:
  explicit Adam(const std::vector<OptimizerParamGroup>& param_groups, AdamOptions defaults = {});
  explicit Adam(std::vector<Tensor> params, AdamOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
  void after_load() override;
};

}  // namespace hearth::optim
