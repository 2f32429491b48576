#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hearth::app {

/// A machine of a cluster file, with the file's defaults applied.
struct Host {
  std::string name;       // in output and errors
  std::string address;    // for ssh and for the other machines
  std::string user;       // empty: ssh's default
  int port = 0;           // of its ssh server; 0: ssh's default
  std::string processes;  // a number, "auto", "cpu" or "gpu"
  std::string directory;  // where the ranks run; empty: the current folder
  std::string hearth;     // the program hearth there; empty: the path of this program
  std::string interface;  // network interface for collectives; empty: any
  std::map<std::string, std::string> environment;
};

struct Cluster {
  std::vector<Host> hosts;  // the first one has rank 0
  std::optional<int> master_port;
};

/// Reads a cluster file. Errors name the line.
Cluster read_cluster(const std::string& path);

}  // namespace hearth::app
