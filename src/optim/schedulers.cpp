#include "hearth/optim/schedulers.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "optim/positive.h"

namespace hearth::optim {

StepLR::StepLR(Optimizer& optimizer, int64_t step_size, double gamma, int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), step_size_(step_size), gamma_(gamma) {
  initial_step();
}

void StepLR::check() const {
  LRScheduler::check();
  positive(step_size_, "step_size");
}

std::vector<double> StepLR::get_lrs() {
  const bool falls = last_epoch() != 0 && last_epoch() % step_size_ == 0;
  return scaled(get_current_lrs(), falls ? gamma_ : 1);
}

void StepLR::fields(Fields& f) {
  LRScheduler::fields(f);
  f.field("step_size", step_size_);
  f.field("gamma", gamma_);
}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma,
                         int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), milestones_(std::move(milestones)), gamma_(gamma) {
  initial_step();
}

std::vector<double> MultiStepLR::get_lrs() {
  const auto times = std::count(milestones_.begin(), milestones_.end(), last_epoch());
  return scaled(get_current_lrs(), std::pow(gamma_, double(times)));
}

void MultiStepLR::fields(Fields& f) {
  LRScheduler::fields(f);
  f.field("milestones", milestones_);
  f.field("gamma", gamma_);
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma, int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), gamma_(gamma) {
  initial_step();
}

std::vector<double> ExponentialLR::get_lrs() {
  return scaled(get_current_lrs(), is_initial() ? 1 : gamma_);
}

void ExponentialLR::fields(Fields& f) {
  LRScheduler::fields(f);
  f.field("gamma", gamma_);
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min,
                                     int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), T_max_(T_max), eta_min_(eta_min) {
  initial_step();
}

void CosineAnnealingLR::check() const {
  LRScheduler::check();
  positive(T_max_, "T_max");
}

std::vector<double> CosineAnnealingLR::get_lrs() {
  std::vector<double> rates = get_current_lrs();
  if (is_initial()) return rates;
  const auto height = [this](int64_t epoch) {
    return 1 + std::cos(std::numbers::pi * double(epoch) / double(T_max_));
  };
  // One epoch after a minimum, the recursion would divide by 0, since the last rate is eta_min.
  const bool after_minimum = (last_epoch() - 1 - T_max_) % (2 * T_max_) == 0;
  for (size_t i = 0; i < rates.size(); ++i)
    rates[i] =
        after_minimum
            ? rates[i] +
                  (base_lrs()[i] - eta_min_) * (1 - std::cos(std::numbers::pi / double(T_max_))) / 2
            : height(last_epoch()) / height(last_epoch() - 1) * (rates[i] - eta_min_) + eta_min_;
  return rates;
}

void CosineAnnealingLR::fields(Fields& f) {
  LRScheduler::fields(f);
  f.field("T_max", T_max_);
  f.field("eta_min", eta_min_);
}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor,
                   int64_t total_iters, int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch),
      start_factor_(start_factor),
      end_factor_(end_factor),
      total_iters_(total_iters) {
  initial_step();
}

void LinearLR::check() const {
  LRScheduler::check();
  HEARTH_CHECK_AS(ValueError, start_factor_ <= 1 && start_factor_ > 0,
                  "Starting multiplicative factor expected to be greater than 0 and less or equal "
                  "to 1.");
  HEARTH_CHECK_AS(ValueError, end_factor_ <= 1 && end_factor_ >= 0,
                  "Ending multiplicative factor expected to be between 0 and 1.");
}

std::vector<double> LinearLR::get_lrs() {
  if (last_epoch() == 0) return scaled(get_current_lrs(), start_factor_);
  if (is_initial() || last_epoch() > total_iters_) return get_current_lrs();
  const double rise = end_factor_ - start_factor_;
  return scaled(get_current_lrs(), 1 + rise / (double(total_iters_) * start_factor_ +
                                               double(last_epoch() - 1) * rise));
}

void LinearLR::fields(Fields& f) {
  LRScheduler::fields(f);
  f.field("start_factor", start_factor_);
  f.field("end_factor", end_factor_);
  f.field("total_iters", total_iters_);
}

LambdaLR::LambdaLR(Optimizer& optimizer, Factor lr_lambda, int64_t last_epoch)
    : LambdaLR(optimizer, std::vector<Factor>(optimizer.param_groups().size(), lr_lambda),
               last_epoch) {}
LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<Factor> lr_lambdas, int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), lr_lambdas_(std::move(lr_lambdas)) {
  initial_step();
}

void LambdaLR::check() const {
  LRScheduler::check();
  const size_t groups = optimizer().param_groups().size();
  HEARTH_CHECK_AS(ValueError, lr_lambdas_.size() == groups, "Expected ", groups,
                  " lr_lambdas, but got ", lr_lambdas_.size());
  for (const Factor& factor : lr_lambdas_)
    HEARTH_CHECK_AS(ValueError, factor, "an lr_lambda is an empty function");
}

std::vector<double> LambdaLR::get_lrs() {
  std::vector<double> rates = base_lrs();
  for (size_t i = 0; i < rates.size(); ++i) rates[i] *= lr_lambdas_[i](last_epoch());
  return rates;
}

}  // namespace hearth::optim
