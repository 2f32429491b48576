#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hearth/optim/lr_scheduler.h"

namespace hearth::optim {

/// Options of CyclicLR.
struct HEARTH_API CyclicLROptions {
  using Scale = std::function<double(double)>;  ///< a factor of the height of a cycle
  CyclicLROptions(PerGroup base_lr, PerGroup max_lr)
      : base_lr_(std::move(base_lr)), max_lr_(std::move(max_lr)) {}
  HEARTH_ARG(PerGroup, base_lr);                       ///< the smallest learning rate
  HEARTH_ARG(PerGroup, max_lr);                        ///< the largest learning rate
  HEARTH_ARG(int64_t, step_size_up) = 2000;            ///< number of steps of lr's rise
  HEARTH_ARG(std::optional<int64_t>, step_size_down);  ///< of lr's fall; default: step_size_up
  HEARTH_ARG(std::string, mode) = "triangular";        ///< or "triangular2" or "exp_range"
  HEARTH_ARG(double, gamma) = 1;                  ///< exp_range: the height factor is gamma^step
  HEARTH_ARG(Scale, scale_fn);                    ///< height factors instead of mode
  HEARTH_ARG(std::string, scale_mode) = "cycle";  ///< scale_fn's argument, or "iterations"
  HEARTH_ARG(bool, cycle_momentum) = true;        ///< whether the momentum changes, too
  HEARTH_ARG(PerGroup, base_momentum) = 0.8;      ///< the smallest momentum, at max_lr
  HEARTH_ARG(PerGroup, max_momentum) = 0.9;       ///< the momentum at base_lr
  HEARTH_ARG(int64_t, last_epoch) = -1;           ///< -1: the start of the first cycle
};

/// Cycles in which the rate rises linearly from base_lr to max_lr and falls again, while the
/// momentum (or Adam's first beta) falls and rises. The height max_lr - base_lr is constant
/// ("triangular"), halved after each cycle ("triangular2") or multiplied by gamma^step
/// ("exp_range"). Call step() after each batch.
class HEARTH_API CyclicLR : public LRScheduler {
 public:
  CyclicLR(Optimizer& optimizer, const CyclicLROptions& options);
  CyclicLR(Optimizer& optimizer, PerGroup base_lr, PerGroup max_lr, int64_t step_size_up = 2000);

 protected:
  std::vector<double> get_lrs() override;
  void fields(Fields& f) override;
  void check() const override;

 private:
  double height() const;
  double scale(double cycle) const;

  std::vector<double> max_lrs_, base_momentums_, max_momentums_;
  double total_size_, step_ratio_;
  std::string mode_, scale_mode_;
  double gamma_;
  CyclicLROptions::Scale scale_fn_;
  bool cycle_momentum_;
};

}  // namespace hearth::optim
