#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hearth/optim/lr_scheduler.h"

namespace hearth::optim {

/// Options of OneCycleLR; total_steps, or epochs and steps_per_epoch, must be set.
struct HEARTH_API OneCycleLROptions {
  OneCycleLROptions(PerGroup max_lr) : max_lr_(std::move(max_lr)) {}
  HEARTH_ARG(PerGroup, max_lr);                         ///< the largest learning rate
  HEARTH_ARG(std::optional<int64_t>, total_steps);      ///< steps of the cycle
  HEARTH_ARG(std::optional<int64_t>, epochs);           ///< total_steps / steps_per_epoch
  HEARTH_ARG(std::optional<int64_t>, steps_per_epoch);  ///< total_steps / epochs
  HEARTH_ARG(double, pct_start) = 0.3;                  ///< share of the steps in which lr rises
  HEARTH_ARG(std::string, anneal_strategy) = "cos";     ///< "cos" or "linear"
  HEARTH_ARG(bool, cycle_momentum) = true;              ///< whether the momentum changes, too
  HEARTH_ARG(PerGroup, base_momentum) = 0.85;           ///< the smallest momentum, at max_lr
  HEARTH_ARG(PerGroup, max_momentum) = 0.95;            ///< the momentum at the start and the end
  HEARTH_ARG(double, div_factor) = 25;                  ///< max_lr / the initial rate
  HEARTH_ARG(double, final_div_factor) = 1e4;           ///< the initial rate / the final rate
  HEARTH_ARG(bool, three_phase) = false;  ///< returns to the initial rate before the final one
  HEARTH_ARG(int64_t, last_epoch) = -1;   ///< -1: the start of the cycle
};

/// The 1cycle policy: the rate rises from max_lr / div_factor to max_lr and then falls to the
/// initial rate / final_div_factor; the momentum (or Adam's first beta) falls and then rises. Call
/// step() after each batch.
class HEARTH_API OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, const OneCycleLROptions& options);
  OneCycleLR(Optimizer& optimizer, PerGroup max_lr, int64_t total_steps);

 protected:
  std::vector<double> get_lrs() override;
  void fields(Fields& f) override;
  void check() const override;

 private:
  /// A phase until end_step, in which rate and momentum change from start to end values.
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
