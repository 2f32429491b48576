// Helpers of the tests that run shell scripts under `hearth launch`.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/cli/program.h"
#include "tests/support/files.h"

namespace hearth::testing {

/// The arguments of `hearth launch` for a shell script.
inline std::vector<std::string> launch_line(std::vector<std::string> flags,
                                            const std::string& script) {
  flags.insert(flags.begin(), "launch");
  for (const std::string& word : {std::string("--"), std::string("sh"), std::string("-c"), script})
    flags.push_back(word);
  return flags;
}

/// Variables for run(): sets `more` and OMP_NUM_THREADS, and unsets (by a name without a value)
/// variables that would change a launch.
inline std::vector<std::string> clean_environment(std::vector<std::string> more = {}) {
  more.insert(more.end(), {"OMP_NUM_THREADS=1", "HEARTH_RDZV_TOKEN", "HEARTH_SSH"});
  return more;
}

inline RunResult launch(const std::vector<std::string>& flags, const std::string& script,
                        const std::vector<std::string>& environment = clean_environment()) {
  return run(launch_line(flags, script), environment);
}

/// A port that other test programs are unlikely to use at the same time. Each test has its
/// own: processes of a killed job may hold their port for a moment.
inline std::string own_port() {
  const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
  const size_t offset = std::hash<std::string>{}(std::string(test.test_suite_name()) + test.name());
  return std::to_string(20000 + (size_t(getpid()) + offset) % 9000);
}

inline std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// Waits up to ten seconds until the condition holds.
inline bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return condition();
}

/// Whether a process exists and is not a zombie.
inline bool is_running(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string stat;
  std::getline(file, stat);
  const size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.substr(name_end + 2, 1) != "Z";
}

/// The process ids that scripts have written to a file with `echo $$ >> file`.
inline std::vector<pid_t> processes_in(const std::string& path) {
  std::istringstream text(bytes_of(path));
  std::vector<pid_t> processes;
  for (pid_t process; text >> process;) processes.push_back(process);
  return processes;
}

inline bool all_gone(const std::vector<pid_t>& processes) {
  return std::none_of(processes.begin(), processes.end(), is_running);
}

inline double seconds_of(const std::function<void()>& function) {
  const auto start = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace hearth::testing
