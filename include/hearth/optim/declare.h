#pragma once

#include <tuple>

#include "hearth/optim/optimizer.h"

namespace hearth::optim {

/// OptimizerCloneableOptions for options with an lr().
template <class Derived>
class HEARTH_API RateOptions : public OptimizerCloneableOptions<Derived> {
 public:
  double get_lr() const override { return static_cast<const Derived&>(*this).lr(); }
  void set_lr(double lr) override { static_cast<Derived&>(*this).lr(lr); }
};

/// RateOptions for options with betas(), the first of which schedulers may change.
template <class Derived>
class HEARTH_API BetaOptions : public RateOptions<Derived> {
 public:
  using betas_t = std::tuple<double, double>;
  std::optional<double> get_momentum() const override {
    return std::get<0>(static_cast<const Derived&>(*this).betas());
  }
  void set_momentum(double momentum) override {
    std::get<0>(static_cast<Derived&>(*this).betas()) = momentum;
  }
};

/// Declares the members of an optimizer with the options NameOptions.
#define HEARTH_OPTIMIZER(Name)                                            \
 public:                                                                  \
  explicit Name(const std::vector<OptimizerParamGroup>& param_groups,     \
                Name##Options defaults = {});                             \
  explicit Name(std::vector<Tensor> params, Name##Options defaults = {}); \
  Tensor step(LossClosure closure = nullptr) override;                    \
                                                                          \
 protected:                                                               \
  std::unique_ptr<OptimizerParamState> make_state() const override

}  // namespace hearth::optim
