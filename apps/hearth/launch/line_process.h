#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "event_loop.h"
#include "lines.h"
#include "process.h"

namespace hearth::app {

/// The objects that all LineProcess objects of a program share.
struct Context {
  EventLoop& loop;
  const SignalReader& signals;
  const Guard& guard;  // kills the processes if this program dies
};

/// A process whose output is read line by line while the loop runs.
class LineProcess {
 public:
  using LineHandler = std::function<void(Stream, const std::string&)>;
  LineProcess(const Context& context, const Command& command, LineHandler handle,
              size_t longest_stdout_line = kLongestLine);
  ~LineProcess();
  LineProcess(const LineProcess&) = delete;
  LineProcess& operator=(const LineProcess&) = delete;

  pid_t id() const { return process_.id(); }
  /// The pipe to its stdin; -1 without one.
  int input() const { return process_.input(); }
  void send(int signal) const { process_.send(signal); }
  /// Checks whether the process has ended. If so, the rest of its output is handled. Returns true
  /// only in the call that notices the end.
  bool reap();
  bool has_ended() const { return status_.has_value(); }
  /// The status from waitpid().
  int status() const { return *status_; }
  /// The last lines of its stderr.
  std::vector<std::string> last_lines() const { return tail_.lines(); }

 private:
  void watch(int file, Lines& lines) const;
  void drain(int file, Lines& lines) const;

  EventLoop& loop_;
  Process process_;
  Tail tail_;
  Lines out_, err_;
  std::optional<int> status_;
};

}  // namespace hearth::app
