// Runs this program again, as the processes of a job.

#include "tests/distributed/ranks.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>

#include "tests/support/listener.h"
#include "tests/support/throws.h"

extern char** environ;

namespace hearth::testing {

namespace {

constexpr const char* kFunctionVariable = "HEARTH_TEST_RANK_FUNCTION";

std::map<std::string, RankFunction::Body>& functions() {
  static std::map<std::string, RankFunction::Body> all;
  return all;
}

/// In a process that run_ranks has started: runs the function and exits before GoogleTest begins.
struct RunInstead : ::testing::Environment {
  void SetUp() override {
    const char* const name = std::getenv(kFunctionVariable);
    if (!name) return;
    try {
      functions().at(name)();
    } catch (const std::exception& error) {
      std::printf("ERROR %s\n", error.what());
      std::fflush(stdout);
      std::_Exit(1);
    }
    std::fflush(stdout);
    std::exit(0);
  }
};
[[maybe_unused]] const auto* const run_instead =
    ::testing::AddGlobalTestEnvironment(new RunInstead);

struct Process {
  pid_t id = 0;
  int output = -1;
  bool has_ended = false;
};

std::vector<std::string> environment_of(int rank, int size, int port, const char* function,
                                        const RankOptions& options) {
  std::map<std::string, std::string> variables{{kFunctionVariable, function}};
  if (options.sets_environment) {
    variables["RANK"] = std::to_string(rank);
    variables["WORLD_SIZE"] = std::to_string(size);
    variables["MASTER_ADDR"] = "127.0.0.1";
    variables["MASTER_PORT"] = std::to_string(port);
  }
  for (const auto& [name, value] : options.environment) variables[name] = value;
  std::vector<std::string> lines;
  for (char** line = environ; *line; ++line)
    if (!variables.contains(std::string(*line, std::strcspn(*line, "=")))) lines.push_back(*line);
  for (const auto& [name, value] : variables) lines.push_back(name + "=" + value);
  return lines;
}

Process start(int rank, int size, int port, const char* function, const RankOptions& options) {
  std::vector<std::string> lines = environment_of(rank, size, port, function, options);
  std::vector<char*> variables;
  for (std::string& line : lines) variables.push_back(line.data());
  variables.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  char program[] = "/proc/self/exe", brief[] = "--gtest_brief=1";
  char* arguments[] = {program, brief, nullptr};
  Process process;
  if (posix_spawn(&process.id, program, &actions, nullptr, arguments, variables.data()) != 0)
    throw std::runtime_error("posix_spawn failed");
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  process.output = ends[0];
  return process;
}

/// Reads the processes' output until all but options.endless_rank have closed it, or until
/// options.timeout has passed since the start.
void collect(std::vector<Process>& processes, std::vector<RankResult>& results,
             std::chrono::steady_clock::time_point start, const RankOptions& options) {
  const auto elapsed = [&] { return std::chrono::steady_clock::now() - start; };
  while (true) {
    std::vector<pollfd> entries;
    for (const Process& process : processes)
      entries.push_back({process.has_ended ? -1 : process.output, POLLIN, 0});
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(options.timeout - elapsed());
    bool any_runs = false;
    for (size_t i = 0; i < processes.size(); ++i)
      any_runs |= !processes[i].has_ended && static_cast<int>(i) != options.endless_rank;
    if (!any_runs || left.count() <= 0) return;
    poll(entries.data(), entries.size(), static_cast<int>(left.count()));
    for (size_t i = 0; i < processes.size(); ++i) {
      if (!entries[i].revents) continue;
      char buffer[4096];
      const ssize_t count = read(processes[i].output, buffer, sizeof buffer);
      if (count > 0) {
        results[i].output.append(buffer, static_cast<size_t>(count));
        continue;
      }
      processes[i].has_ended = true;
      results[i].seconds = std::chrono::duration<double>(elapsed()).count();
    }
  }
}

}  // namespace

RankFunction::RankFunction(const char* name, Body body) : name_(name) { functions()[name] = body; }

std::vector<RankResult> run_ranks(const RankFunction& function, int size,
                                  const RankOptions& options) {
  const int port = free_port();
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Process> processes;
  std::vector<int> ids;
  for (int rank = 0; rank < size; ++rank) {
    processes.push_back(start(rank, size, port, function.name(), options));
    ids.push_back(processes.back().id);
  }
  if (options.meanwhile) options.meanwhile(ids);
  std::vector<RankResult> results(static_cast<size_t>(size));
  collect(processes, results, begin, options);
  for (size_t i = 0; i < processes.size(); ++i) {
    results[i].timed_out = !processes[i].has_ended;
    if (results[i].timed_out) kill(processes[i].id, SIGKILL);
    int status = 0;
    waitpid(processes[i].id, &status, 0);
    close(processes[i].output);
    if (WIFEXITED(status)) results[i].exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) results[i].signal = WTERMSIG(status);
  }
  return results;
}

std::vector<RankResult> run_ranks_well(const RankFunction& function, int size,
                                       const RankOptions& options) {
  const std::vector<RankResult> results = run_ranks(function, size, options);
  for (size_t rank = 0; rank < results.size(); ++rank)
    EXPECT_TRUE(results[rank].exit_code == 0 && !results[rank].timed_out)
        << "rank " << rank << " of " << size << ": exit code " << results[rank].exit_code
        << ", signal " << results[rank].signal << (results[rank].timed_out ? ", timed out" : "")
        << "\n"
        << results[rank].output;
  return results;
}

void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error("not true: " + what);
}

void print_error(const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  const std::string error = error_of(f);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%s\nafter %.3f s\n", error.c_str(), seconds.count());
}

double seconds_in(const std::string& output) {
  return std::atof(output.c_str() + output.rfind("after ") + 6);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace hearth::testing
