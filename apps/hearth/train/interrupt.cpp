#include "interrupt.h"

namespace hearth::app {

namespace {

volatile std::sig_atomic_t received = 0;

}  // namespace

InterruptGuard::InterruptGuard() {
  received = 0;
  struct sigaction action {};
  action.sa_handler = [](int) { received = 1; };
  // SA_RESTART: reads and writes continue. SA_RESETHAND: the second signal has its default action.
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
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
