#include "hearth/optim/one_cycle_lr.h"

#include <cmath>
#include <numbers>

#include "optim/per_group.h"
#include "optim/positive.h"

namespace hearth::optim {

namespace {

int64_t total_steps_of(const OneCycleLROptions& options) {
  if (options.total_steps()) return *options.total_steps();
  HEARTH_CHECK_AS(ValueError, options.epochs() && options.steps_per_epoch(),
                  "You must define either total_steps OR (epochs AND steps_per_epoch)");
  return positive(*options.epochs(), "epochs") *
         positive(*options.steps_per_epoch(), "steps_per_epoch");
}

/// Unless the scheduler resumes, sets the groups' initial rates, which the base class reads.
/// Returns the optimizer.
Optimizer& prepared(Optimizer& optimizer, const OneCycleLROptions& options) {
  std::vector<OptimizerParamGroup>& groups = optimizer.param_groups();
  const std::vector<double> max_lr = per_group(options.max_lr(), "max_lr", groups.size());
  for (size_t i = 0; i < groups.size() && options.last_epoch() == -1; ++i)
    groups[i].initial_lr() = max_lr[i] / options.div_factor();
  return optimizer;
}

}  // namespace

OneCycleLR::OneCycleLR(Optimizer& optimizer, const OneCycleLROptions& options)
    : LRScheduler(prepared(optimizer, options), options.last_epoch()),
      total_steps_(total_steps_of(options)),
      pct_start_(options.pct_start()),
      anneal_strategy_(options.anneal_strategy()),
      cycle_momentum_(options.cycle_momentum()),
      three_phase_(options.three_phase()) {
  set_levels(options);
  if (cycle_momentum_) set_momentums(options);
  initial_step();
}

void OneCycleLR::check() const {
  LRScheduler::check();
  positive(total_steps_, "total_steps");
  HEARTH_CHECK_AS(ValueError, 0 <= pct_start_ && pct_start_ <= 1,
                  "Expected float between 0 and 1 pct_start, but got ", pct_start_);
  HEARTH_CHECK_AS(ValueError, anneal_strategy_ == "cos" || anneal_strategy_ == "linear",
                  "anneal_strategy must be one of 'cos' or 'linear', instead got ",
                  anneal_strategy_);
  for (const auto* rates : {&initial_lr_, &max_lr_, &min_lr_}) check_count(rates->size());
  if (!cycle_momentum_) return;
  check_has_momentum(optimizer());
  for (const auto* momentums : {&base_momentum_, &max_momentum_})
    check_count(momentums->size(), "momentums");
}

OneCycleLR::OneCycleLR(Optimizer& optimizer, PerGroup max_lr, int64_t total_steps)
    : OneCycleLR(optimizer, OneCycleLROptions(std::move(max_lr)).total_steps(total_steps)) {}

void OneCycleLR::set_levels(const OneCycleLROptions& options) {
  max_lr_ = per_group(options.max_lr(), "max_lr", optimizer().param_groups().size());
  for (const double highest : max_lr_) {
    initial_lr_.push_back(highest / options.div_factor());
    min_lr_.push_back(initial_lr_.back() / options.final_div_factor());
  }
}

void OneCycleLR::set_momentums(const OneCycleLROptions& options) {
  const size_t groups = optimizer().param_groups().size();
  max_momentum_ = per_group(options.max_momentum(), "max_momentum", groups);
  base_momentum_ = per_group(options.base_momentum(), "base_momentum", groups);
}

std::vector<OneCycleLR::Phase> OneCycleLR::phases() const {
  const double rise = pct_start_ * double(total_steps_), end = double(total_steps_ - 1);
  if (!three_phase_)
    return {{rise - 1, initial_lr_, max_lr_, max_momentum_, base_momentum_},
            {end, max_lr_, min_lr_, base_momentum_, max_momentum_}};
  return {{rise - 1, initial_lr_, max_lr_, max_momentum_, base_momentum_},
          {2 * rise - 2, max_lr_, initial_lr_, base_momentum_, max_momentum_},
          {end, initial_lr_, min_lr_, max_momentum_, max_momentum_}};
}

double OneCycleLR::anneal(double start, double end, double progress) const {
  if (anneal_strategy_ == "linear") return (end - start) * progress + start;
  return end + (start - end) / 2 * (std::cos(std::numbers::pi * progress) + 1);
}

std::vector<double> OneCycleLR::get_lrs() {
  const auto step = double(last_epoch());
  HEARTH_CHECK_AS(ValueError, last_epoch() <= total_steps_, "Tried to step ", last_epoch(),
                  " times. The specified number of total steps is ", total_steps_);
  const std::vector<Phase> all_phases = phases();
  size_t i_phase = 0;
  while (i_phase + 1 < all_phases.size() && step > all_phases[i_phase].end_step) ++i_phase;
  const Phase& phase = all_phases[i_phase];
  const double start = i_phase == 0 ? 0 : all_phases[i_phase - 1].end_step;
  const double length = phase.end_step - start,
               progress = length == 0 ? 1 : (step - start) / length;
  std::vector<double> rates(max_lr_.size());
  std::vector<OptimizerParamGroup>& groups = optimizer().param_groups();
  for (size_t i = 0; i < rates.size(); ++i) {
    rates[i] = anneal(phase.start_lr[i], phase.end_lr[i], progress);
    if (cycle_momentum_ && i < groups.size())
      groups[i].options().set_momentum(
          anneal(phase.start_momentum[i], phase.end_momentum[i], progress));
  }
  return rates;
}

void OneCycleLR::fields(Fields& f) {
  LRScheduler::fields(f);
  f.field("total_steps", total_steps_);
  f.field("pct_start", pct_start_);
  f.field("anneal_strategy", anneal_strategy_);
  f.field("cycle_momentum", cycle_momentum_);
  f.field("three_phase", three_phase_);
  f.field("initial_lr", initial_lr_);
  f.field("max_lr", max_lr_);
  f.field("min_lr", min_lr_);
  f.field("base_momentum", base_momentum_);
  f.field("max_momentum", max_momentum_);
}

}  // namespace hearth::optim
