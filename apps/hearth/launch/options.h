#pragma once

#include <optional>
#include <string>
#include <vector>

#include "console.h"

namespace CLI {
class App;
}

namespace hearth::app {

/// How many machines a job may have.
struct NodeRange {
  int min = 1, max = 1;
};

/// The command line of `hearth launch`.
struct LaunchOptions {
  std::string processes = "1";  // or "auto", "cpu", "gpu"
  std::string node_counts;
  std::optional<NodeRange> nodes;  // from `node_counts`
  int node_rank = 0;
  std::string endpoint, master_addr;
  std::optional<int> master_port;
  int max_restarts = 0;
  int grace = 30, heartbeat_timeout = 30;  // seconds
  std::string token, run_id;
  std::string cluster, ssh;
  std::string tee, redirects;
  ConsoleOptions console;
  bool is_standalone = false, has_no_prefix = false, is_agent = false;
  // --nnodes is MIN:MAX and there is no cluster file: the launchers of the machines meet.
  bool is_elastic = false;
  std::vector<std::string> command;  // the program and its arguments
};

/// Removes the arguments of the launched program from those of `hearth launch`, and returns them.
/// The program's name stays, after "--".
std::vector<std::string> take_program_arguments(const CLI::App& app,
                                                std::vector<std::string>& arguments);

/// The flags of `hearth launch`, whose values go to `options`.
void add_launch_flags(CLI::App& launch, LaunchOptions& options);

/// Throws if flags contradict each other. Reads the values that the flags gave as texts, and takes
/// missing ones from the environment.
void finish_launch_options(const CLI::App& launch, LaunchOptions& options);

/// The number of processes that "auto", "cpu", "gpu" or a number stands for on this machine.
int count_processes(const std::string& text);

/// An error text for a number of processes; empty if it is valid.
std::string check_processes(const std::string& text);

}  // namespace hearth::app
