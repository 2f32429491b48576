#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "kernels/sim/capture.h"
#include "kernels/sim/clock.h"
#include "seam/ctx.h"

namespace hearth::sim {

/// A queue of work that its own thread runs in order, at positions 1, 2, 3, … An eager stream runs
/// work at once; a lazy one runs it only up to the last position that a caller asked for.
class Stream {
 public:
  explicit Stream(bool lazy);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Adds work to the queue; returns its position.
  uint64_t submit(std::function<void()> work);
  /// Waits until all work up to the position has run or the stream is stopped.
  void wait_for(uint64_t position);
  /// Like wait_for; throws an Error if the work was dropped, so that it has no results.
  void wait_for_results(uint64_t position);
  /// Whether all work up to the position has run or the stream is stopped; makes a lazy stream run
  /// the work.
  bool has_passed(uint64_t position);
  uint64_t last_position();

  /// Throws the first exception that work has thrown since the last call.
  void rethrow();
  /// Whether rethrow() would throw.
  bool has_failed();
  /// Drops all work after the current one and wakes waiters; submit() then drops its work too.
  void request_stop();
  void join();

  FaultSlot& faults() { return faults_; }
  /// Whether the calling thread is this stream's thread.
  bool is_running_caller() const;
  /// The stream whose thread the calling one is.
  static Stream& running();

  /// The capture that the stream takes part in; null if there is none.
  std::shared_ptr<Capture> capture();
  void set_capture(std::shared_ptr<Capture> capture);
  /// Throws, and makes the capture fail, if the stream takes part in one.
  void check_not_capturing();

 private:
  struct Work {
    std::function<void()> run;
    Clock::Time submitted;
  };
  void run();
  /// Lets a lazy stream run its work up to the position. The caller holds the mutex.
  void demand(uint64_t position);

  std::mutex mutex_;
  std::condition_variable work_ready_;
  std::condition_variable work_done_;
  std::deque<Work> queue_;
  uint64_t submitted_ = 0;
  uint64_t completed_ = 0;
  Clock::Time completed_at_{0};
  uint64_t demanded_;
  bool stopping_ = false;
  std::exception_ptr error_;
  std::shared_ptr<Capture> capture_;
  FaultSlot faults_;
  std::thread thread_;  // started by the first submit()
};

/// Whether this process is a forked child: inherited streams have no threads, and locks that were
/// held at the fork stay locked.
bool is_forked_child();
/// Throws an Error in a forked child, as PyTorch does.
void check_not_forked();

/// A position in a stream and the times at which the stream passed it.
struct Mark {
  Stream* stream = nullptr;
  uint64_t position = 0;
  std::chrono::steady_clock::time_point time;
  Clock::Time simulated_time{0};
  std::shared_ptr<Capture> capture;  // the position is in this capture, at `point`
  Capture::Point point;
};

/// A CUDA event: the mark of its last recording. Waiting for an event that was never recorded does
/// nothing.
struct Event {
  bool timing = false;
  std::shared_ptr<Mark> mark;

  bool is_captured() const { return mark && mark->capture; }

  void record(Stream& stream);
  void make_wait(Stream& waiter) const;
};

}  // namespace hearth::sim
