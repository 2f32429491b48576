#pragma once

#include <algorithm>
#include <chrono>

namespace hearth::sim {

/// The time of the simulation: it passes only where work calls pass(), whatever the load of the
/// machine. Tests use it to measure the cost of an order of work on several streams. Each stream
/// and each thread of the host has a time of its own; work begins no earlier than it was submitted,
/// and waiting for work ends no earlier than that work.
class Clock {
 public:
  using Time = std::chrono::nanoseconds;
  static Time now() { return now_; }
  static void pass(Time duration) { now_ += duration; }
  static void wait_until(Time time) { now_ = std::max(now_, time); }

 private:
  static inline thread_local Time now_{0};
};

}  // namespace hearth::sim
