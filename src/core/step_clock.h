#pragma once

#include <chrono>
#include <cstdint>

namespace hearth {

/// Reasons for which a thread waits during a training step (profiler::StepTimes).
enum class StepWait : uint8_t { kData, kCopies, kCommunication, kLogging };
inline constexpr int kStepWaits = 4;

/// The waits of one thread since its start.
struct StepCounts {
  int64_t wait_ns[kStepWaits] = {};
  int64_t steps = 0;
  bool is_waiting = false;
};
inline constinit thread_local StepCounts step_counts;

/// Counts its lifetime as a wait of this thread, unless it is inside another wait.
class StepWaitTimer {
 public:
  explicit StepWaitTimer(StepWait kind) : kind_(kind), is_outermost_(!step_counts.is_waiting) {
    if (!is_outermost_) return;
    step_counts.is_waiting = true;
    start_ = Clock::now();
  }
  ~StepWaitTimer() {
    if (!is_outermost_) return;
    step_counts.is_waiting = false;
    step_counts.wait_ns[static_cast<int>(kind_)] +=
        std::chrono::nanoseconds(Clock::now() - start_).count();
  }
  StepWaitTimer(const StepWaitTimer&) = delete;
  StepWaitTimer& operator=(const StepWaitTimer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  StepWait kind_;
  bool is_outermost_;
  Clock::time_point start_;
};

}  // namespace hearth
