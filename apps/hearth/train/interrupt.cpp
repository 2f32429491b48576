#include "interrupt.h"

namespace hearth::app {

namespace {

volatile std::sig_atomic_t received = 0;

/// Gives each of the guard's signals its default action, so that a second one ends the program.
void receive_first(int) {
  received = 1;
  for (const int signal : InterruptGuard::kSignals) {
    struct sigaction current {};
    sigaction(signal, nullptr, &current);
    if (current.sa_handler != &receive_first) continue;  // ignored
    current.sa_handler = SIG_DFL;
    sigaction(signal, &current, nullptr);
  }
}

}  // namespace

InterruptGuard::InterruptGuard() {
  received = 0;
  struct sigaction action {};
  action.sa_handler = &receive_first;
  action.sa_flags = SA_RESTART;  // reads and writes continue
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
