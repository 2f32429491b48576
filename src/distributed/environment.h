#pragma once

#include <optional>
#include <string>

namespace hearth::distributed {

/// The rank of this process in its job, and the place of the job's store.
struct Rendezvous {
  int rank = -1;
  int world_size = -1;
  std::string host;  // of the store; empty if `file` is used
  int port = -1;
  std::string file;
};

/// Reads `rank` and `world_size` (-1: not set), `method` and the environment. `method` is env://
/// (or empty), tcp://host:port or file://path, with ?rank=0&world_size=2 after the latter two.
Rendezvous find_rendezvous(const std::string& method, int rank, int world_size);

/// The random id of the launch that started this process (HEARTH_LAUNCH_ID); empty if it has none.
std::string get_launch_id();
/// The number of the round, from 0, of a job whose launcher starts all processes again
/// (HEARTH_RDZV_ROUND); none if the launcher does not count the rounds of the whole job.
std::optional<int> get_launched_round();

/// The first host in a list of Slurm: "n[03-10,12],m1" -> "n03".
std::string first_host(const std::string& nodelist);

}  // namespace hearth::distributed
