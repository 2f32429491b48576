#pragma once

#include <csignal>

namespace hearth {

/// Delays signals to this thread until the outermost scope ends, for code that no signal handler
/// may interrupt. Signals of errors, such as SIGSEGV, are not delayed.
class BlockedSignals {
 public:
  BlockedSignals() noexcept;
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t former_;  // of the outermost scope
};

/// Blocks signals to this thread until it ends, so that a BlockedSignals costs no system calls.
void block_signals_from_now_on() noexcept;

}  // namespace hearth
