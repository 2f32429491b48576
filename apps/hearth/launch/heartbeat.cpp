#include "heartbeat.h"

namespace hearth::app {

namespace {

constexpr int kBeats = 5;  // within the time-out

}  // namespace

// While this process is stopped, it can hear nothing; Timer counts that time as one interval.
Heartbeat::Heartbeat(EventLoop& loop, std::chrono::seconds timeout, Events events)
    : events_(std::move(events)),
      timer_(loop, std::chrono::nanoseconds(timeout) / kBeats, [this] { tick(); }) {}

void Heartbeat::tick() {
  events_.beat();
  if (++num_silent_ > kBeats) events_.lost();
}

}  // namespace hearth::app
