#include "hearth/optim/reduce_lr_on_plateau.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace hearth::optim {

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, SchedulerMode mode, double factor,
                                     int64_t patience, double threshold,
                                     ThresholdMode threshold_mode, int64_t cooldown,
                                     PerGroup min_lr, double eps, bool verbose)
    : LRScheduler(optimizer),
      mode_(mode),
      threshold_mode_(threshold_mode),
      factor_(factor),
      threshold_(threshold),
      eps_(eps),
      patience_(patience),
      cooldown_(cooldown),
      min_lr_(min_lr.values().empty() ? PerGroup(0.0) : std::move(min_lr)),
      best_(worst()),
      verbose_(verbose) {
  ReduceLROnPlateau::check();
}

void ReduceLROnPlateau::check() const {
  LRScheduler::check();
  HEARTH_CHECK(factor_ < 1, "Factor should be < 1.0.");
  HEARTH_CHECK(mode_ == min || mode_ == max, "mode ", mode_, " is unknown!");
  HEARTH_CHECK(threshold_mode_ == rel || threshold_mode_ == abs, "threshold mode ", threshold_mode_,
               " is unknown!");
  const size_t groups = optimizer().param_groups().size();
  HEARTH_CHECK(min_lr_.spread(groups).size() == groups, "expected ", groups, " min_lrs, got ",
               min_lr_.values().size());
}

double ReduceLROnPlateau::worst() const {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  return mode_ == min ? kInf : -kInf;
}

bool ReduceLROnPlateau::is_better(double metric) const {
  if (mode_ == min)
    return metric < (threshold_mode_ == rel ? best_ * (1 - threshold_) : best_ - threshold_);
  return metric > (threshold_mode_ == rel ? best_ * (1 + threshold_) : best_ + threshold_);
}

void ReduceLROnPlateau::step(double metric) {
  set_last_epoch(last_epoch() + 1);
  ++step_count_;
  const bool better = is_better(metric);
  if (better) best_ = metric;
  num_bad_epochs_ = better ? 0 : num_bad_epochs_ + 1;
  if (cooldown_counter_ > 0) {
    --cooldown_counter_;
    num_bad_epochs_ = 0;
  }
  if (num_bad_epochs_ > patience_) {
    reduce_lr();
    cooldown_counter_ = cooldown_;
    num_bad_epochs_ = 0;
  }
  remember_lrs();
}

std::vector<double> ReduceLROnPlateau::lower_limits() const {
  const size_t groups = optimizer().param_groups().size();
  std::vector<double> limits = min_lr_.spread(groups);
  HEARTH_CHECK(limits.size() == groups, "The number of param groups in the `optimizer` (", groups,
               ") differs from when `ReduceLROnPlateau` was initialized (", min_lr_.values().size(),
               "), usually due to a new param group being added to the optimizer.");
  return limits;
}

void ReduceLROnPlateau::reduce_lr() {
  const std::vector<double> limits = lower_limits();
  std::vector<OptimizerParamGroup>& groups = optimizer().param_groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    const double old_lr = groups[i].options().get_lr();
    const double new_lr = std::max(old_lr * factor_, limits[i]);
    if (old_lr - new_lr <= eps_) continue;
    groups[i].options().set_lr(new_lr);
    if (verbose_)
      std::printf("Epoch %lld: reducing learning rate of group %zu to %.4g\n",
                  static_cast<long long>(last_epoch()), i, new_lr);
  }
}

std::vector<double> ReduceLROnPlateau::get_lrs() {
  hearth::detail::fail<TypeError>(
      "ReduceLROnPlateau.step() missing 1 required positional argument: 'metrics'");
}

void ReduceLROnPlateau::fields(Fields& f) {
  LRScheduler::fields(f);
  f.field("mode", mode_);
  f.field("factor", factor_);
  f.field("patience", patience_);
  f.field("threshold", threshold_);
  f.field("threshold_mode", threshold_mode_);
  f.field("cooldown", cooldown_);
  f.field("cooldown_counter", cooldown_counter_);
  f.field("num_bad_epochs", num_bad_epochs_);
  f.field("eps", eps_);
  // JSON has no infinity: an infinite best value is left out if there was no finite metric yet, and
  // `unbeatable` stands for the other infinity.
  bool unbeatable = !f.loading() && best_ == -worst();
  if (f.loading()) best_ = worst();
  if (f.loading() ? f.has("best") : std::isfinite(best_)) f.field("best", best_);
  if (f.loading() ? f.has("unbeatable") : unbeatable) f.field("unbeatable", unbeatable);
  if (f.loading() && unbeatable) best_ = -worst();
}

}  // namespace hearth::optim
