#include "hearth/optim/schedulers.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "optim/cosine.h"
#include "optim/positive.h"

namespace hearth::optim {

namespace {

double quotient(double dividend, double divisor, const char* name) {
  HEARTH_CHECK(divisor != 0, "division by zero: ", name, " is 0");
  return dividend / divisor;
}

}  // namespace

StepLR::StepLR(Optimizer& optimizer, int64_t step_size, double gamma, int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), step_size_(step_size), gamma_(gamma) {
  initial_step();
}

void StepLR::check() const {
  LRScheduler::check();
  positive(step_size_, "step_size");
}

std::vector<double> StepLR::get_lrs() {
  const bool is_decay_epoch = last_epoch() != 0 && last_epoch() % step_size_ == 0;
  return scaled(get_current_lrs(), is_decay_epoch ? gamma_ : 1);
}

std::vector<double> StepLR::get_closed_form_lrs() {
  const double num_decays = std::floor(double(last_epoch()) / double(step_size_));
  return scaled(base_lrs(), std::pow(gamma_, num_decays));
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
  const auto num_decays = std::count(milestones_.begin(), milestones_.end(), last_epoch());
  return scaled(get_current_lrs(), std::pow(gamma_, double(num_decays)));
}

std::vector<double> MultiStepLR::get_closed_form_lrs() {
  const auto num_decays =
      std::count_if(milestones_.begin(), milestones_.end(),
                    [this](int64_t milestone) { return milestone <= last_epoch(); });
  return scaled(base_lrs(), std::pow(gamma_, double(num_decays)));
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

std::vector<double> ExponentialLR::get_closed_form_lrs() {
  return scaled(base_lrs(), std::pow(gamma_, double(last_epoch())));
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
  // One epoch after a minimum, the recursion would divide by height(last_epoch() - 1) = 0.
  const bool after_minimum = (last_epoch() - 1 - T_max_) % (2 * T_max_) == 0;
  for (size_t i = 0; i < rates.size(); ++i)
    rates[i] =
        after_minimum
            ? rates[i] +
                  (base_lrs()[i] - eta_min_) * (1 - std::cos(std::numbers::pi / double(T_max_))) / 2
            : height(last_epoch()) / height(last_epoch() - 1) * (rates[i] - eta_min_) + eta_min_;
  return rates;
}

std::vector<double> CosineAnnealingLR::get_closed_form_lrs() {
  return cosine(base_lrs(), eta_min_, double(last_epoch()) / double(T_max_));
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

std::vector<double> LinearLR::get_closed_form_lrs() {
  const auto epoch = double(std::min(total_iters_, last_epoch()));
  const double rise = (end_factor_ - start_factor_) * epoch;
  return scaled(base_lrs(), start_factor_ + quotient(rise, double(total_iters_), "total_iters"));
}

void LinearLR::fields(Fields& f) {
  LRScheduler::fields(f);
  f.field("start_factor", start_factor_);
  f.field("end_factor", end_factor_);
  f.field("total_iters", total_iters_);
}

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, int64_t total_iters, int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), factor_(factor), total_iters_(total_iters) {
  initial_step();
}

void ConstantLR::check() const {
  LRScheduler::check();
  HEARTH_CHECK_AS(ValueError, factor_ <= 1 && factor_ >= 0,
                  "Constant multiplicative factor expected to be between 0 and 1.");
}

std::vector<double> ConstantLR::get_lrs() {
  if (last_epoch() == 0) return scaled(get_current_lrs(), factor_);
  if (last_epoch() != total_iters_) return get_current_lrs();
  return scaled(get_current_lrs(), quotient(1, factor_, "factor"));
}

std::vector<double> ConstantLR::get_closed_form_lrs() {
  // factor + (1 - factor) is 1, rounded as in PyTorch.
  return scaled(base_lrs(), last_epoch() >= total_iters_ ? factor_ + (1 - factor_) : factor_);
}

void ConstantLR::fields(Fields& f) {
  LRScheduler::fields(f);
  f.field("factor", factor_);
  f.field("total_iters", total_iters_);
}

PolynomialLR::PolynomialLR(Optimizer& optimizer, int64_t total_iters, double power,
                           int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), total_iters_(total_iters), power_(power) {
  initial_step();
}

/// Returns the fraction of the epochs that remains.
double PolynomialLR::remaining(int64_t epoch) const {
  return 1 - quotient(double(epoch), double(total_iters_), "total_iters");
}

double PolynomialLR::raised(double fraction) const {
  HEARTH_CHECK(fraction != 0 || power_ >= 0, "0.0 cannot be raised to a negative power: power is ",
               power_);
  return std::pow(fraction, power_);
}

std::vector<double> PolynomialLR::get_lrs() {
  if (is_initial() || last_epoch() > total_iters_) return get_current_lrs();
  return scaled(get_current_lrs(), raised(remaining(last_epoch()) / remaining(last_epoch() - 1)));
}

std::vector<double> PolynomialLR::get_closed_form_lrs() {
  return scaled(base_lrs(), raised(remaining(std::min(total_iters_, last_epoch()))));
}

void PolynomialLR::fields(Fields& f) {
  LRScheduler::fields(f);
  f.field("total_iters", total_iters_);
  f.field("power", power_);
}

}  // namespace hearth::optim
