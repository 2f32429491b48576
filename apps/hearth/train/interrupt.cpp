#include "interrupt.h"

namespace hearth::app {

namespace {

volatile std::sig_atomic_t noted = 0;

}  // namespace

InterruptGuard::InterruptGuard() {
  noted = 0;
  struct sigaction action {};
  action.sa_handler = [](int) { noted = 1; };
  // Reads and writes go on, and the second signal does what it always does.
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  for (size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

bool interrupted() { return noted != 0; }

}  // namespace hearth::app
