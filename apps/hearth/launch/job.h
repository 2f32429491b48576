#pragma once

#include <map>
#include <string>
#include <vector>

namespace hearth::app {

/// The ranks of one machine, and the program that they run.
struct NodeJob {
  std::vector<std::string> command;                // the program and its arguments
  std::string directory;                           // empty: that of this process
  std::map<std::string, std::string> environment;  // added to the inherited variables
  int node = 0, nodes = 1;  // the number of this machine, and of all machines
  int first_rank = 0, local_size = 1, world_size = 1;
  std::string master_addr = "127.0.0.1";
  int master_port = 0;
  std::string token;  // the secret that all ranks must know
  std::string run_id;
  std::string launch_id;  // random; empty if the machines cannot agree on one
  int restart = 0, max_restarts = 0;
  bool has_common_restarts = true;  // all machines count the same restarts
  std::string node_range;           // MIN:MAX, if machines may join while the ranks run
};

/// The variables that only Hearth may set for ranks; a cluster file may not set them.
const std::vector<std::string>& rank_variables();

/// The whole environment of a rank, as NAME=value.
std::vector<std::string> rank_environment(const NodeJob& job, int local_rank);

/// Whether the ranks of this job get OMP_NUM_THREADS=1, because it is not set and they share a
/// machine.
bool limits_threads(const NodeJob& job);

}  // namespace hearth::app
