#include "core/blocked_signals.h"

#include <pthread.h>

#include <csignal>
#include <initializer_list>

namespace hearth {

namespace {
thread_local int depth = 0;
}  // namespace

BlockedSignals::BlockedSignals() noexcept {
  if (depth == 0) {
    sigset_t delayed;
    sigfillset(&delayed);
    for (const int error : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP})
      sigdelset(&delayed, error);
    pthread_sigmask(SIG_BLOCK, &delayed, &former_);
  }
  ++depth;
}

BlockedSignals::~BlockedSignals() {
  if (--depth == 0) pthread_sigmask(SIG_SETMASK, &former_, nullptr);
}

bool BlockedSignals::are_active() noexcept { return depth > 0; }

}  // namespace hearth
