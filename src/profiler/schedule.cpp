#include "hearth/error.h"
#include "hearth/profiler/profile.h"

namespace hearth::profiler {

Schedule schedule(const ScheduleOptions& options) {
  HEARTH_CHECK_AS(ValueError,
                  options.wait() >= 0 && options.warmup() >= 0 && options.active() > 0 &&
                      options.repeat() >= 0 && options.skip_first() >= 0,
                  "Invalid profiler schedule arguments. Got wait=", options.wait(),
                  " (need >= 0), warmup=", options.warmup(),
                  " (need >= 0), active=", options.active(),
                  " (need > 0), repeat=", options.repeat(),
                  " (need >= 0), skip_first=", options.skip_first(), " (need >= 0).");
  if (options.warmup() == 0) warn("Profiler won't be using warmup, this can skew profiler results");
  return [options](int64_t step) {
    HEARTH_CHECK_AS(ValueError, step >= 0, "Step must be non-negative. Got ", step, ".");
    if (step < options.skip_first()) return ProfilerAction::None;
    step -= options.skip_first();
    if (options.skip_first_wait()) step += options.wait();
    const int64_t length = options.wait() + options.warmup() + options.active();
    if (options.repeat() > 0 && step >= options.repeat() * length) return ProfilerAction::None;
    const int64_t position = step % length;
    if (position < options.wait()) return ProfilerAction::None;
    if (position < options.wait() + options.warmup()) return ProfilerAction::Warmup;
    return position < length - 1 ? ProfilerAction::Record : ProfilerAction::RecordAndSave;
  };
}

}  // namespace hearth::profiler
