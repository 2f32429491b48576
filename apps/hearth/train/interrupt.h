#pragma once

#include <array>
#include <csignal>

namespace hearth::app {

/// During its lifetime, the first SIGINT, SIGTERM or SIGHUP only makes interrupted() true. The same
/// signal again ends the program; another one does after a second. (Sooner, it is part of the same
/// request: at the end of a session, systemd sends SIGTERM and at once SIGHUP.) Signals that were
/// ignored (nohup) stay ignored.
class InterruptGuard {
 public:
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  std::array<struct sigaction, kSignals.size()> previous_{};
};

/// Whether a signal has arrived since the guard was created.
bool interrupted();

}  // namespace hearth::app
