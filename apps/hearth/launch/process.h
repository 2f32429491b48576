#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "guard.h"
#include "signals.h"

namespace hearth::app {

/// The program that a new process runs, with its arguments and surroundings.
struct Command {
  std::vector<std::string> words;        // the program's path and its arguments
  std::vector<std::string> environment;  // NAME=value
  std::string directory;                 // empty: that of this process
  bool has_input = false;                // a pipe; otherwise the input is empty
};

/// A child process in a process group of its own. The child is killed when this process dies; the
/// rest of its group is killed when the child ends.
class Process {
 public:
  Process(const Command& command, const SignalReader& signals, const Guard& guard);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t id() const { return id_; }
  // This process's ends of the pipes to the child's streams; input() is -1 without `has_input`.
  int input() const { return input_; }
  int output() const { return output_; }
  int errors() const { return errors_; }
  void close_input();

  /// Sends the signal to its group.
  void send(int signal) const;
  /// The status from waitpid() if the process has ended; its group has been killed then.
  std::optional<int> status();

 private:
  const Guard& guard_;
  pid_t id_ = 0;
  int input_ = -1, output_ = -1, errors_ = -1;
  std::optional<int> status_;
};

}  // namespace hearth::app
