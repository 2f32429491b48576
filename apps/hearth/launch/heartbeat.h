#pragma once

#include <chrono>
#include <functional>

#include "timer.h"

namespace hearth::app {

/// Detects that the other end of a connection is silent. While the loop runs, calls `beat`, which
/// should send something, at regular intervals. Once nothing was heard for longer than the
/// time-out, also calls `lost` at each interval.
class Heartbeat {
 public:
  struct Events {
    std::function<void()> beat, lost;
  };
  Heartbeat(EventLoop& loop, std::chrono::seconds timeout, Events events);

  /// To be called when anything has arrived from the other end.
  void heard() { num_silent_ = 0; }

 private:
  void tick();

  Events events_;
  int num_silent_ = 0;  // beats since something was heard
  Timer timer_;
};

}  // namespace hearth::app
