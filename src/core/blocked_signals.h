#pragma once

#include <pthread.h>

#include <csignal>

namespace hearth {

/// Delays signals to this thread until the scope ends, for code that no signal handler may
/// interrupt. Signals of errors, such as SIGSEGV, are not delayed.
class BlockedSignals {
 public:
  BlockedSignals() noexcept {
    sigset_t delayed;
    sigfillset(&delayed);
    for (const int error : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP})
      sigdelset(&delayed, error);
    pthread_sigmask(SIG_BLOCK, &delayed, &former_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &former_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t former_;
};

}  // namespace hearth
