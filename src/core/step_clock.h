#pragma once

#include <atomic>
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
  bool is_watched = false;  // has been watched_counts.trainer
};
inline constinit thread_local StepCounts step_counts;

inline int64_t steady_now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

/// The counts of the thread that trains, after its last step, for a thread that reports them.
///
/// A process reports one thread. That is the first one whose optimizer makes a step or, if no
/// optimizer does, the first one that calls report_step(). Another thread of the same kind can take
/// its place when it has made no step for kIdleNs.
struct WatchedCounts {
  static constexpr int kNoWait = -1;
  static constexpr int64_t kNoStep = -1, kIdleNs = 5'000'000'000;
  /// The reason why `trainer` is the thread that trains, the weakest first: it created the
  /// StatusReporter, it calls report_step(), or its optimizer makes steps.
  enum Claim : int { kAssumed, kReports, kOptimizes };

  std::atomic<bool> is_on{false};
  std::atomic<const StepCounts*> trainer{nullptr};  // only compared: the thread may have ended
  std::atomic<int> claim{kAssumed};
  std::atomic<bool> trainer_reports{false};  // it calls report_step()
  std::atomic<int64_t> wait_ns[kStepWaits]{};
  std::atomic<int64_t> steps{0}, step_end_ns{0};
  std::atomic<int64_t> reported_step{kNoStep}, reported_samples{0};  // of report_step()
  std::atomic<int> current_wait{kNoWait};  // a StepWait, in which the thread is now
  std::atomic<int64_t> current_wait_start_ns{0};

  /// Whether these are the calling thread's counts. A new thread may have the counts at the address
  /// of one that has ended; it is not watched.
  bool is_trainer() const {
    return step_counts.is_watched && trainer.load(std::memory_order_relaxed) == &step_counts;
  }
  /// Makes the calling thread the one that trains; it has made no step yet.
  void begin(Claim reason);
  /// Calls begin() unless a thread trains that has a better claim, or an equal one and is not idle.
  /// Returns is_trainer().
  bool take(Claim reason);
  /// Called by the thread that trains, at the end of a step.
  void copy(const StepCounts& counts) {
    for (int i = 0; i < kStepWaits; ++i)
      wait_ns[i].store(counts.wait_ns[i], std::memory_order_relaxed);
    step_end_ns.store(steady_now_ns(), std::memory_order_relaxed);
    steps.store(counts.steps, std::memory_order_relaxed);
  }
};
inline constinit WatchedCounts watched_counts;

/// Counts its lifetime as a wait of this thread, unless it is inside another wait.
class StepWaitTimer {
 public:
  explicit StepWaitTimer(StepWait kind) : kind_(kind), is_outermost_(!step_counts.is_waiting) {
    if (!is_outermost_) return;
    step_counts.is_waiting = true;
    start_ = Clock::now();
    if (watched_counts.is_trainer()) [[unlikely]] {
      watched_counts.current_wait_start_ns.store(start_.time_since_epoch().count(),
                                                 std::memory_order_relaxed);
      watched_counts.current_wait.store(static_cast<int>(kind), std::memory_order_relaxed);
    }
  }
  ~StepWaitTimer() {
    if (!is_outermost_) return;
    step_counts.is_waiting = false;
    if (watched_counts.is_trainer()) [[unlikely]]
      watched_counts.current_wait.store(WatchedCounts::kNoWait, std::memory_order_relaxed);
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
