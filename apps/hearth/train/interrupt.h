#pragma once

#include <csignal>

namespace hearth::app {

/// While one lives, the first SIGINT or SIGTERM is only noted; a second one ends the program.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction old_interrupt_ {
  }, old_terminate_{};
};

/// Whether a signal was noted.
bool interrupted();

}  // namespace hearth::app
