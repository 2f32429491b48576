// Schedulers by functions of the epoch: LambdaLR and MultiplicativeLR.
#include "hearth/optim/schedulers.h"

namespace hearth::optim {

namespace {

using Factors = std::vector<LambdaLR::Factor>;

void check_functions(const Factors& lr_lambdas, const Optimizer& optimizer) {
  const size_t groups = optimizer.param_groups().size();
  HEARTH_CHECK_AS(ValueError, lr_lambdas.size() == groups, "Expected ", groups,
                  " lr_lambdas, but got ", lr_lambdas.size());
  for (const LambdaLR::Factor& factor : lr_lambdas)
    HEARTH_CHECK_AS(TypeError, factor,
                    "lr_lambda should be a function, but got an empty std::function");
}

/// Returns the same function for every group.
Factors repeated(const LambdaLR::Factor& lr_lambda, const Optimizer& optimizer) {
  return Factors(optimizer.param_groups().size(), lr_lambda);
}

std::vector<double> product(std::vector<double> rates, const Factors& lr_lambdas, int64_t epoch) {
  for (size_t i = 0; i < rates.size(); ++i) rates[i] *= lr_lambdas[i](epoch);
  return rates;
}

}  // namespace

LambdaLR::LambdaLR(Optimizer& optimizer, Factor lr_lambda, int64_t last_epoch)
    : LambdaLR(optimizer, repeated(lr_lambda, optimizer), last_epoch) {}
LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<Factor> lr_lambdas, int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), lr_lambdas_(std::move(lr_lambdas)) {
  initial_step();
}

void LambdaLR::check() const {
  LRScheduler::check();
  check_functions(lr_lambdas_, optimizer());
}

std::vector<double> LambdaLR::get_lrs() { return product(base_lrs(), lr_lambdas_, last_epoch()); }

MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, Factor lr_lambda, int64_t last_epoch)
    : MultiplicativeLR(optimizer, repeated(lr_lambda, optimizer), last_epoch) {}
MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, std::vector<Factor> lr_lambdas,
                                   int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), lr_lambdas_(std::move(lr_lambdas)) {
  initial_step();
}

void MultiplicativeLR::check() const {
  LRScheduler::check();
  check_functions(lr_lambdas_, optimizer());
}

std::vector<double> MultiplicativeLR::get_lrs() {
  check_count(lr_lambdas_.size(), "lr_lambdas");
  return is_initial() ? get_current_lrs() : product(get_current_lrs(), lr_lambdas_, last_epoch());
}

}  // namespace hearth::optim
