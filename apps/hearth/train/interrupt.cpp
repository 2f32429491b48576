#include "interrupt.h"

#include <ctime>

namespace hearth::app {

namespace {

volatile std::sig_atomic_t received = 0;
timespec first_time;  // of the first signal; only the handler uses it

void give_default_action(int signal) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
}

bool is_second_past_first() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto seconds = now.tv_sec - first_time.tv_sec;
  return seconds > 1 || (seconds == 1 && now.tv_nsec >= first_time.tv_nsec);
}

/// A handler that the other signals do not interrupt.
void receive(int signal) {
  if (!received) {
    received = 1;
    clock_gettime(CLOCK_MONOTONIC, &first_time);
    give_default_action(signal);  // if it comes again
  } else if (is_second_past_first()) {
    give_default_action(signal);
    raise(signal);  // arrives when the handler has returned
  }
}

}  // namespace

InterruptGuard::InterruptGuard() {
  received = 0;
  struct sigaction action {};
  action.sa_handler = &receive;
  action.sa_flags = SA_RESTART;  // reads and writes continue
  for (const int signal : kSignals) sigaddset(&action.sa_mask, signal);
  for (size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &previous_[i]);
    if (previous_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &previous_[i], nullptr);
}

bool interrupted() { return received != 0; }

}  // namespace hearth::app
