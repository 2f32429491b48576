#include "supervisor.h"

#include <poll.h>

namespace hearth::app {

namespace {

/// This many signals of the user end the ranks without grace.
constexpr int kImpatient = 3;
/// The time until SIGKILL is repeated.
constexpr std::chrono::seconds kBetweenKills{2};

}  // namespace

Supervisor::Supervisor(EventLoop& loop, const SignalReader& signals, std::chrono::seconds grace)
    : loop_(loop), signals_(signals), grace_(grace) {}

void Supervisor::run(Ranks& ranks) {
  ranks_ = &ranks;
  loop_.watch(signals_.file(), POLLIN, [this] { read_signals(); });
  ranks.reap();  // some may have ended while others were started
  while (!ranks.ended()) {
    const bool must_end = is_ending() || !failures_.empty();
    if (must_end && !deadline_) end_ranks(signal_ ? signal_ : SIGTERM);
    kill_late_ranks();
    loop_.run_once(deadline_);
  }
  loop_.forget(signals_.file());
  ranks_ = nullptr;
}

void Supervisor::failed(const Failure& failure) {
  if (!is_ending()) failures_.push_back(failure);
}

void Supervisor::forward(int signal) {
  if (!asks_to_end(signal)) {
    if (ranks_) ranks_->send(signal);
    return;
  }
  if (signal_ == 0) signal_ = signal;
  if (++num_signals_ == kImpatient) deadline_ = EventLoop::Clock::now();
  // After end(), the ranks have had a signal, and a second one ends programs that are saving: the
  // user's first one is not sent.
  if (has_request_ && num_signals_ == 1) return;
  // Without a deadline, run() sends the signal and sets the deadline.
  if (deadline_ && ranks_) ranks_->send(signal);
}

void Supervisor::read_signals() {
  while (const auto signal = signals_.next()) {
    if (*signal != SIGCHLD)
      forward(*signal);
    else if (ranks_)
      ranks_->reap();
  }
}

void Supervisor::end_ranks(int signal) {
  deadline_ = EventLoop::Clock::now() + grace_;
  ranks_->send(signal);
}

void Supervisor::kill_late_ranks() {
  if (!deadline_ || EventLoop::Clock::now() < *deadline_) return;
  ranks_->send(SIGKILL);
  deadline_ = EventLoop::Clock::now() + kBetweenKills;
}

}  // namespace hearth::app
