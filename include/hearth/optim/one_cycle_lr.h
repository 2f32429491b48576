#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hearth/optim/lr_scheduler.h"

namespace hearth::optim {

/// total_steps, or epochs and steps_per_epoch, must be set.
struct HEARTH_API OneCycleLROptions {
  OneCycleLROptions(PerGroup max_lr) : max_lr_(std::move(max_lr)) {}
  HEARTH_ARG(PerGroup, max_lr);
  HEARTH_ARG(std::optional<int64_t>, total_steps);
  HEARTH_ARG(std::optional<int64_t>, epochs);
  HEARTH_ARG(std::optional<int64_t>, steps_per_epoch);
  HEARTH_ARG(double, pct_start) = 0.3;
  HEARTH_ARG(std::string, anneal_strategy) = "cos";
  HEARTH_ARG(bool, cycle_momentum) = true;
  HEARTH_ARG(PerGroup, base_momentum) = 0.85;
  HEARTH_ARG(PerGroup, max_momentum) = 0.95;
  HEARTH_ARG(double, div_factor) = 25;
  HEARTH_ARG(double, final_div_factor) = 1e4;
  HEARTH_ARG(bool, three_phase) = false;
  HEARTH_ARG(int64_t, last_epoch) = -1;
};

/// The 1cycle policy: the rate rises from max_lr / div_factor to max_lr and falls to that divided
/// by final_div_factor, while the momentum (or Adam's first beta) goes the other way. step() once
/// per batch.
class HEARTH_API OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, const OneCycleLROptions& options);
  OneCycleLR(Optimizer& optimizer, PerGroup max_lr, int64_t total_steps);

 protected:
  std::vector<double> get_lrs() override;
  void fields(Fields& f) override;
  void check() const override;

 private:
  /// From one level to another until a step.
  struct Phase {
    double end_step;
    const std::vector<double>&start_lr, &end_lr, &start_momentum, &end_momentum;
  };
  std::vector<Phase> phases() const;
  double anneal(double start, double end, double share) const;
  void set_levels(const OneCycleLROptions& options);
  void set_momentums(const OneCycleLROptions& options);

  int64_t total_steps_;
  double pct_start_;
  std::string anneal_strategy_;
  bool cycle_momentum_, three_phase_;
  std::vector<double> initial_lr_, max_lr_, min_lr_, base_momentum_, max_momentum_;
};

}  // namespace hearth::optim
