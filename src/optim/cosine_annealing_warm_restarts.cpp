#include <cmath>

#include "hearth/optim/schedulers.h"
#include "optim/cosine.h"
#include "optim/positive.h"

namespace hearth::optim {

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t T_0,
                                                         int64_t T_mult, double eta_min,
                                                         int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch),
      T_0_(T_0),
      T_mult_(T_mult),
      eta_min_(eta_min),
      T_cur_(double(last_epoch)),
      T_i_(double(T_0)) {
  initial_step();
}

void CosineAnnealingWarmRestarts::check() const {
  LRScheduler::check();
  positive(T_0_, "T_0");
  HEARTH_CHECK_AS(ValueError, T_mult_ >= 1, "Expected integer T_mult >= 1, but got ", T_mult_);
  HEARTH_CHECK_AS(ValueError, T_i_ > 0, "Expected positive T_i, but got ", T_i_);
}

std::vector<double> CosineAnnealingWarmRestarts::get_lrs() {
  return cosine(base_lrs(), eta_min_, T_cur_ / T_i_);
}

void CosineAnnealingWarmRestarts::next_epoch() {
  if (last_epoch() < 0) return go_to(0);
  T_cur_ += 1;
  if (T_cur_ >= T_i_) {
    T_cur_ = std::fmod(T_cur_, T_i_);
    T_i_ *= double(T_mult_);
  }
  LRScheduler::next_epoch();
}

void CosineAnnealingWarmRestarts::go_to(double epoch) {
  HEARTH_CHECK_AS(ValueError, epoch >= 0, "Expected non-negative epoch, but got ", epoch);
  HEARTH_CHECK_AS(ValueError, epoch < 0x1p53, "Expected an epoch below 2^53, but got ", epoch);
  const auto first_cycle = double(T_0_), factor = double(T_mult_);
  if (epoch >= first_cycle && T_mult_ == 1) {
    T_cur_ = std::fmod(epoch, first_cycle);
  } else {
    // T_0 * (1 + T_mult + ... + T_mult^(n - 1)) epochs precede the n-th restart.
    const double restarts =
        epoch < first_cycle
            ? 0
            : std::floor(std::log(epoch / first_cycle * (factor - 1) + 1) / std::log(factor));
    const double growth = std::pow(factor, restarts);
    T_cur_ = restarts == 0 ? epoch : epoch - first_cycle * (growth - 1) / (factor - 1);
    T_i_ = first_cycle * growth;
  }
  set_last_epoch(int64_t(epoch));
  set_optimizer_lrs(get_lrs());
}

void CosineAnnealingWarmRestarts::fields(Fields& f) {
  LRScheduler::fields(f);
  f.field("T_0", T_0_);
  f.field("T_mult", T_mult_);
  f.field("T_i", T_i_);
  f.field("T_cur", T_cur_);
  f.field("eta_min", eta_min_);
}

}  // namespace hearth::optim
