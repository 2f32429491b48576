#include "timer.h"

#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "hearth/error.h"

namespace hearth::app {

Timer::Timer(EventLoop& loop, std::chrono::nanoseconds interval, std::function<void()> tick)
    : loop_(loop) {
  file_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  HEARTH_CHECK(file_ >= 0, "cannot create a timer: ", std::strerror(errno));
  const auto seconds = std::chrono::floor<std::chrono::seconds>(interval);
  const timespec time{seconds.count(), (interval - seconds).count()};
  const itimerspec setting{time, time};
  timerfd_settime(file_, 0, &setting, nullptr);
  loop_.watch(file_, POLLIN, [file = file_, tick = std::move(tick)] {
    uint64_t expirations = 0;
    if (read(file, &expirations, sizeof expirations) > 0) tick();
  });
}

Timer::~Timer() {
  loop_.forget(file_);
  close(file_);
}

}  // namespace hearth::app
