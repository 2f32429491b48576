#pragma once

#include <csignal>

namespace hearth {

/// Delays signals to this thread until the outermost scope ends, for code that no signal handler
/// may interrupt. The pool's threads do the same in parallel loops that begin inside the scope.
/// Signals of errors, such as SIGSEGV, are not delayed, nor are the C library's own for setuid()
/// and pthread_cancel().
class BlockedSignals {
 public:
  BlockedSignals() noexcept;
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  /// Whether this thread is inside a scope.
  static bool are_active() noexcept;

 private:
  sigset_t former_;  // set in the outermost scope only
};

}  // namespace hearth
