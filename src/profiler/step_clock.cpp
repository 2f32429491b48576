#include "hearth/profiler/step_clock.h"

#include <algorithm>
#include <cmath>

#include "core/observer.h"
#include "core/step_clock.h"
#include "hearth/demangle.h"
#include "hearth/error.h"

namespace hearth::profiler {

namespace {

constexpr int kSteps = kStepWaits, kTime = kStepWaits + 1;  // the entries of start_ after the waits
constexpr double kBound = 0.2;  // the least share of a step at which a wait is the verdict

int64_t percent(double part, double whole) { return std::llround(100 * part / whole); }

}  // namespace

StepClock::StepClock() {
  std::copy_n(step_counts.wait_ns, kStepWaits, start_);
  start_[kSteps] = step_counts.steps;
  start_[kTime] = steady_now_ns();
}

StepTimes StepClock::times() const {
  constexpr double kSecondsPerNs = 1e-9;
  const auto waited = [&](StepWait wait) {
    const auto i = static_cast<int>(wait);
    return kSecondsPerNs * static_cast<double>(step_counts.wait_ns[i] - start_[i]);
  };
  StepTimes times;
  times.steps = step_counts.steps - start_[kSteps];
  times.total = kSecondsPerNs * static_cast<double>(steady_now_ns() - start_[kTime]);
  times.data = waited(StepWait::kData);
  times.copies = waited(StepWait::kCopies);
  times.communication = waited(StepWait::kCommunication);
  times.logging = waited(StepWait::kLogging);
  return times;
}

StepTimes& StepTimes::operator+=(const StepTimes& other) {
  steps += other.steps;
  total += other.total;
  data += other.data;
  copies += other.copies;
  communication += other.communication;
  logging += other.logging;
  return *this;
}

std::string StepTimes::verdict() const {
  if (total <= 0) return "no step was measured";
  struct Bound {
    double time;
    const char *name, *waits_for;
  };
  const Bound bounds[] = {{data, "input-bound", "the data loader"},
                          {copies, "copy-bound", "copies to the GPU"},
                          {communication, "communication-bound", "other processes"},
                          {logging, "logging-bound", "the writer of logs"}};
  const Bound& worst =
      *std::max_element(std::begin(bounds), std::end(bounds),
                        [](const Bound& a, const Bound& b) { return a.time < b.time; });
  if (worst.time >= kBound * total)
    return hearth::detail::str(worst.name, ": ", percent(worst.time, total),
                               " % of the step waits for ", worst.waits_for);
  return hearth::detail::str("compute-bound: ", percent(compute(), total),
                             " % of the step computes");
}

int64_t StepTimes::workers_needed(int64_t workers) const {
  const double rest = total - data;
  // The time of preparing data: without workers, the wait; with workers, all their time.
  const double preparing = workers == 0 ? data : total * static_cast<double>(workers);
  if (preparing <= 0 || rest <= 0) return workers;
  return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(preparing / rest)));
}

detail::OptimizerStep::OptimizerStep(const std::type_info& optimizer) {
  if (!(modes.flags & kObserved)) [[likely]]
    return;
  const std::string name = short_class_name(optimizer);
  begin_observed_range({ObservedRange::Kind::kUser, this, "Optimizer.step#" + name + ".step"});
}

detail::OptimizerStep::~OptimizerStep() {
  ++step_counts.steps;
  if (watched_counts.is_on.load(std::memory_order_relaxed)) [[unlikely]] {
    if (watched_counts.take(WatchedCounts::kOptimizes)) watched_counts.copy(step_counts);
  }
  if (modes.flags & kObserved) [[unlikely]]
    end_observed_range(this);
}

}  // namespace hearth::profiler
