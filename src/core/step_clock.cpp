#include "core/step_clock.h"

namespace hearth {

void WatchedCounts::begin(Claim reason) {
  constexpr auto kOrder = std::memory_order_relaxed;
  step_counts.is_watched = true;
  trainer.store(&step_counts, kOrder);
  claim.store(reason, kOrder);
  trainer_reports.store(false, kOrder);
  reported_step.store(kNoStep, kOrder);
  steps.store(0, kOrder);
  step_end_ns.store(0, kOrder);
  current_wait.store(kNoWait, kOrder);
}

bool WatchedCounts::take(Claim reason) {
  constexpr auto kOrder = std::memory_order_relaxed;
  const int former = claim.load(kOrder);
  if (is_trainer()) {
    if (reason > former) claim.store(reason, kOrder);
    return true;
  }
  const bool is_idle = steady_now_ns() - step_end_ns.load(kOrder) >= kIdleNs;
  if (reason < former || (reason == former && !is_idle)) return false;
  begin(reason);
  return true;
}

}  // namespace hearth
