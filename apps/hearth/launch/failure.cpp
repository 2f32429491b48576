#include "failure.h"

#include <sys/wait.h>

#include <ctime>

#include "../names.h"
#include "signals.h"

namespace hearth::app {

namespace {

constexpr size_t kWidth = 60;

std::string field(const std::string& name, const std::string& value) {
  return "  " + name + std::string(10 - name.size(), ' ') + ": " + value + "\n";
}

std::string subject(const Failure& failure) {
  // Below 128, ssh passes on the agent's exit code; otherwise ssh itself has failed or was killed.
  if (failure.rank < 0)
    return (exit_code(failure) < 128 ? "hearth launch on " : "the connection to ") + failure.host;
  return "rank " + std::to_string(failure.rank) + " on " + failure.host;
}

std::string details(const Failure& failure) {
  std::string text = field("time", failure.time) + field("host", failure.host);
  if (failure.rank >= 0)
    text += field("rank", std::to_string(failure.rank) +
                              " (local rank: " + std::to_string(failure.local_rank) + ")");
  text +=
      field("ended with", ending(failure) + " (process: " + std::to_string(failure.process) + ")");
  if (failure.last_lines.empty()) return text + field("stderr", "nothing");
  text += field("stderr", failure.last_lines.size() > 1 ? "its last lines were" : "its line was");
  for (const std::string& line : failure.last_lines) text += "    " + printable(line) + "\n";
  return text;
}

}  // namespace

int exit_code(const Failure& failure) {
  if (WIFSIGNALED(failure.status)) return 128 + WTERMSIG(failure.status);
  return WEXITSTATUS(failure.status);
}

std::string ending(const Failure& failure) {
  if (!WIFSIGNALED(failure.status))
    return "exit code " + std::to_string(WEXITSTATUS(failure.status));
  const int signal = WTERMSIG(failure.status);
  return "signal " + std::to_string(signal) + " (" + signal_name(signal) + ")";
}

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d_%H:%M:%S", localtime_r(&now, &local));
  return text;
}

std::string failure_report(const std::string& program, const std::vector<Failure>& failures) {
  const Failure& first = failures.front();
  const std::string thick(kWidth, '='), thin(kWidth, '-');
  std::string text = "hearth: " + subject(first) + " failed with " + ending(first) +
                     ", so all ranks were ended\n" + thick + "\n" + printable(program) +
                     " FAILED\n" + thin + "\nFirst failure:\n" + details(first);
  if (failures.size() > 1) text += thin + "\nOther failures at the same time:\n";
  for (size_t i = 1; i < failures.size(); ++i)
    text += "  " + subject(failures[i]) + ": " + ending(failures[i]) + "\n";
  return text + thick + "\n";
}

}  // namespace hearth::app
