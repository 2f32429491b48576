#pragma once

#include <string>
#include <vector>

namespace hearth::app {

/// A job that this user runs on this machine.
struct RunningJob {
  std::string host;  // of rank 0
  int port = 0;
  std::string token;  // empty: none
  std::string command;

  std::string endpoint() const;  // "10.0.0.1:29500"
};

/// The jobs of which a process with RANK, MASTER_ADDR and MASTER_PORT in its environment runs here.
/// `processes` is the folder with the processes, /proc.
std::vector<RunningJob> running_jobs(const std::string& processes = "/proc");

}  // namespace hearth::app
