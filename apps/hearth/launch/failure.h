#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace hearth::app {

/// The exit code of ssh, and of `hearth launch`, if a connection cannot be made or is lost.
constexpr int kConnectionFailed = 255;

/// A rank that failed, or a machine whose connection or agent was lost.
struct Failure {
  int rank = -1;  // -1: the machine
  int local_rank = 0;
  pid_t process = 0;
  std::string host;
  int status = 0;  // from waitpid()
  std::string time;
  std::vector<std::string> last_lines;  // of stderr
};

/// The exit code that a shell would show: 128 + N after signal N.
int exit_code(const Failure& failure);

/// "exit code 3", or "signal 9 (SIGKILL)".
std::string ending(const Failure& failure);

/// The local date and time, "2026-11-23_16:31:42".
std::string time_now();

/// A table of the failures, the first one with all details.
std::string failure_report(const std::string& program, const std::vector<Failure>& failures);

}  // namespace hearth::app
