#pragma once

#include <array>
#include <csignal>

namespace hearth::app {

/// While one lives, the first SIGINT, SIGTERM or SIGHUP is only noted; a second one ends the
/// program. One that was ignored (nohup) stays so.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

/// Whether a signal was noted.
bool interrupted();

}  // namespace hearth::app
