#pragma once

#include <csignal>
#include <optional>
#include <string>

namespace hearth::app {

/// During its lifetime, signals to this process are read from a file instead of ending it. Signals
/// that were ignored (nohup) stay ignored.
class SignalReader {
 public:
  SignalReader();
  ~SignalReader();
  SignalReader(const SignalReader&) = delete;
  SignalReader& operator=(const SignalReader&) = delete;

  /// Becomes readable when a signal arrives.
  int file() const { return file_; }
  /// The next signal that has arrived.
  std::optional<int> next() const;
  /// Gives this process its former signal mask and handlers back; a child calls it between fork and
  /// exec.
  void restore() const;

 private:
  sigset_t previous_mask_;
  struct sigaction previous_pipe_ {};
  struct sigaction previous_child_ {};
  int file_ = -1;
};

/// Whether the signal asks a program to end: SIGINT, SIGTERM, SIGHUP or SIGQUIT.
bool asks_to_end(int signal);

/// "SIGTERM", or "signal 42".
std::string signal_name(int signal);

}  // namespace hearth::app
