#include "hearth/optim/cyclic_lr.h"

#include <cmath>

#include "optim/per_group.h"
#include "optim/positive.h"

namespace hearth::optim {

namespace {

/// Unless the scheduler resumes, sets the groups' rates, which the base class reads. Returns the
/// optimizer.
Optimizer& prepared(Optimizer& optimizer, const CyclicLROptions& options) {
  std::vector<OptimizerParamGroup>& groups = optimizer.param_groups();
  const std::vector<double> base_lr = per_group(options.base_lr(), "base_lr", groups.size());
  for (size_t i = 0; i < groups.size() && options.last_epoch() == -1; ++i)
    groups[i].options().set_lr(base_lr[i]);
  return optimizer;
}

int64_t step_size_down(const CyclicLROptions& options) {
  const int64_t steps = options.step_size_down().value_or(options.step_size_up());
  HEARTH_CHECK_AS(ValueError, steps >= 0, "Expected non-negative integer step_size_down, but got ",
                  steps);
  return steps;
}

}  // namespace

CyclicLR::CyclicLR(Optimizer& optimizer, const CyclicLROptions& options)
    : LRScheduler(prepared(optimizer, options), options.last_epoch()),
      max_lrs_(per_group(options.max_lr(), "max_lr", optimizer.param_groups().size())),
      total_size_(double(positive(options.step_size_up(), "step_size_up")) +
                  double(step_size_down(options))),
      step_ratio_(double(options.step_size_up()) / total_size_),
      mode_(options.mode()),
      scale_mode_(options.scale_mode()),
      gamma_(options.gamma()),
      scale_fn_(options.scale_fn()),
      cycle_momentum_(options.cycle_momentum()) {
  const size_t groups = optimizer.param_groups().size();
  if (!scale_fn_) scale_mode_ = mode_ == "exp_range" ? "iterations" : "cycle";
  if (cycle_momentum_) {
    base_momentums_ = per_group(options.base_momentum(), "base_momentum", groups);
    max_momentums_ = per_group(options.max_momentum(), "max_momentum", groups);
  }
  initial_step();
  set_base_lrs(per_group(options.base_lr(), "base_lr", groups));
}

CyclicLR::CyclicLR(Optimizer& optimizer, PerGroup base_lr, PerGroup max_lr, int64_t step_size_up)
    : CyclicLR(optimizer,
               CyclicLROptions(std::move(base_lr), std::move(max_lr)).step_size_up(step_size_up)) {}

void CyclicLR::check() const {
  LRScheduler::check();
  const bool has_mode = mode_ == "triangular" || mode_ == "triangular2" || mode_ == "exp_range";
  HEARTH_CHECK_AS(ValueError, has_mode || scale_fn_, "mode is invalid and scale_fn is None");
  HEARTH_CHECK_AS(ValueError, total_size_ > 0 && 0 < step_ratio_ && step_ratio_ <= 1,
                  "Expected positive total_size and a step_ratio up to 1, but got ", total_size_,
                  " and ", step_ratio_);
  check_count(max_lrs_.size());
  if (!cycle_momentum_) return;
  check_has_momentum(optimizer());
  for (const auto* momentums : {&base_momentums_, &max_momentums_})
    check_count(momentums->size(), "momentums");
}

/// Returns the scale, which `mode` or scale_fn computes from the cycle, counted from 1, or from the
/// epoch.
double CyclicLR::scale(double cycle) const {
  const double x = scale_mode_ == "cycle" ? cycle : double(last_epoch());
  if (scale_fn_) return scale_fn_(x);
  if (mode_ == "triangular2") return 1 / std::pow(2.0, x - 1);
  return mode_ == "exp_range" ? std::pow(gamma_, x) : 1;
}

/// Returns the position between base_lr (0) and max_lr (1).
double CyclicLR::height() const {
  const double cycles = 1 + double(last_epoch()) / total_size_;
  const double cycle = std::floor(cycles), fraction = cycles - cycle;
  return (fraction <= step_ratio_ ? fraction / step_ratio_ : (fraction - 1) / (step_ratio_ - 1)) *
         scale(cycle);
}

std::vector<double> CyclicLR::get_lrs() {
  const double position = height();
  std::vector<double> rates = base_lrs();
  std::vector<OptimizerParamGroup>& groups = optimizer().param_groups();
  for (size_t i = 0; i < rates.size(); ++i) {
    rates[i] += (max_lrs_[i] - rates[i]) * position;
    if (cycle_momentum_)
      groups[i].options().set_momentum(max_momentums_[i] -
                                       (max_momentums_[i] - base_momentums_[i]) * position);
  }
  return rates;
}

void CyclicLR::fields(Fields& f) {
  LRScheduler::fields(f);
  f.field("max_lrs", max_lrs_);
  f.field("total_size", total_size_);
  f.field("step_ratio", step_ratio_);
  f.field("mode", mode_);
  f.field("gamma", gamma_);
  f.field("scale_mode", scale_mode_);
  f.field("cycle_momentum", cycle_momentum_);
  f.field("base_momentums", base_momentums_);
  f.field("max_momentums", max_momentums_);
}

}  // namespace hearth::optim
