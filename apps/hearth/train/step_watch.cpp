#include "step_watch.h"

#include <algorithm>
#include <utility>

#include "hearth/error.h"
#include "hearth/threads.h"

namespace hearth::app {

namespace {

constexpr int64_t kWarmup = 3, kProfiled = 5;  // steps

}  // namespace

StepWatch::StepWatch(std::string trace, int64_t workers)
    : trace_(std::move(trace)), workers_(workers) {
  if (!trace_.empty()) begin_profile();
}

void StepWatch::begin_profile() {
  using profiler::ScheduleOptions;
  profile_ = std::make_unique<profiler::profile>(
      profiler::ProfileOptions()
          .schedule(
              profiler::schedule(ScheduleOptions().warmup(kWarmup).active(kProfiled).repeat(1)))
          .on_trace_ready([path = trace_](profiler::profile& ready) {
            try {
              ready.export_chrome_trace(path);
            } catch (const Error& error) {
              warn(std::string("--profile: ") + error.what());  // the training goes on
            }
          })
          .record_shapes(true)
          .with_flops(true)
          .with_modules(true));
}

void StepWatch::step() {
  if (!profile_) return;
  profile_->step();
  if (profile_->step_num() >= kWarmup + kProfiled) profile_ = nullptr;
}

std::string StepWatch::missing_profile() const {
  if (!profile_) return "";
  return detail::str("--profile: nothing was written, because a profile needs ",
                     kWarmup + kProfiled, " steps, but this run had ", profile_->step_num());
}

std::string StepWatch::verdict() const {
  std::string text = times_.verdict();
  const int64_t needed = times_.workers_needed(workers_);
  if (text.starts_with("input-bound") && needed > workers_ && needed <= get_num_threads())
    text += "; --num-workers " + std::to_string(needed) + " would help";
  return text;
}

}  // namespace hearth::app
