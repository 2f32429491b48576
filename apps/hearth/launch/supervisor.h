#pragma once

#include <optional>
#include <vector>

#include "event_loop.h"
#include "ranks.h"
#include "signals.h"

namespace hearth::app {

/// Waits for the ranks of one attempt. If one fails or a signal to end arrives, it ends all: first
/// with a signal, after the grace period with SIGKILL.
class Supervisor {
 public:
  Supervisor(EventLoop& loop, const SignalReader& signals, std::chrono::seconds grace);

  /// Waits until all ranks have ended.
  void run(Ranks& ranks);
  /// A rank has failed. Failures after the ranks were told to end do not count.
  void failed(const Failure& failure);
  /// Forwards a signal as if this process had got it from the user.
  void forward(int signal);
  /// Ends the ranks, because the job does not go on with them. Does nothing if they were already
  /// told to end.
  void end() { has_request_ = true; }

  /// Whether the ranks were told to end.
  bool is_ending() const { return deadline_ || has_request_ || signal_ != 0; }
  const std::vector<Failure>& failures() const { return failures_; }
  /// The user's first signal that asked to end; 0 if there was none.
  int signal() const { return signal_; }

 private:
  void read_signals();
  void end_ranks(int signal);
  void kill_late_ranks();

  EventLoop& loop_;
  const SignalReader& signals_;
  std::chrono::seconds grace_;
  Ranks* ranks_ = nullptr;
  std::vector<Failure> failures_;
  /// The time of the next SIGKILL; set once the ranks were told to end.
  std::optional<EventLoop::Clock::time_point> deadline_;
  bool has_request_ = false;          // by end()
  int signal_ = 0, num_signals_ = 0;  // of the user, asking to end
};

}  // namespace hearth::app
