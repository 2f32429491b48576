#include "heartbeat.h"

#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "hearth/error.h"

namespace hearth::app {

namespace {

constexpr int kBeats = 5;  // within the time-out

}  // namespace

Heartbeat::Heartbeat(EventLoop& loop, std::chrono::seconds timeout, Events events)
    : loop_(loop), events_(std::move(events)) {
  timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  HEARTH_CHECK(timer_ >= 0, "cannot create a timer: ", std::strerror(errno));
  const std::chrono::nanoseconds interval = std::chrono::nanoseconds(timeout) / kBeats;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(interval);
  const timespec time{seconds.count(), (interval - seconds).count()};
  const itimerspec setting{time, time};
  timerfd_settime(timer_, 0, &setting, nullptr);
  loop_.watch(timer_, POLLIN, [this] { tick(); });
}

Heartbeat::~Heartbeat() {
  loop_.forget(timer_);
  close(timer_);
}

void Heartbeat::tick() {
  // The number of expirations is ignored: while this process was stopped, nothing could be heard.
  uint64_t ignored = 0;
  if (read(timer_, &ignored, sizeof ignored) < 0) return;
  events_.beat();
  if (++num_silent_ > kBeats) events_.lost();
}

}  // namespace hearth::app
