#pragma once

#include <chrono>
#include <functional>

#include "event_loop.h"

namespace hearth::app {

/// Calls a function at regular intervals while the loop runs. Intervals that pass while the process
/// is stopped count as one.
class Timer {
 public:
  Timer(EventLoop& loop, std::chrono::nanoseconds interval, std::function<void()> tick);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  EventLoop& loop_;
  int file_ = -1;
};

}  // namespace hearth::app
