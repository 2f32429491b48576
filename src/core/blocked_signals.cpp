#include "core/blocked_signals.h"

#include <pthread.h>

namespace hearth {

namespace {

thread_local int depth = 0;

/// Returns the former mask.
sigset_t block_signals() noexcept {
  sigset_t delayed, former;
  sigfillset(&delayed);
  for (const int error : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP})
    sigdelset(&delayed, error);
  pthread_sigmask(SIG_BLOCK, &delayed, &former);
  return former;
}

}  // namespace

BlockedSignals::BlockedSignals() noexcept {
  if (depth++ == 0) former_ = block_signals();
}

BlockedSignals::~BlockedSignals() {
  if (--depth == 0) pthread_sigmask(SIG_SETMASK, &former_, nullptr);
}

void block_signals_from_now_on() noexcept {
  block_signals();
  ++depth;
}

}  // namespace hearth
