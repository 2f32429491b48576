#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cluster_file.h"
#include "hearth/error.h"
#include "job.h"
#include "line_process.h"
#include "protocol.h"
#include "ranks.h"

namespace hearth::app {

/// A job on the machines of a cluster file.
struct ClusterJob {
  std::string cluster_file;  // its path, for the texts of errors
  Cluster cluster;
  std::string ssh;
  int min_nodes = 1, max_nodes = 1;
  int grace = 0;  // seconds
  std::chrono::seconds heartbeat_timeout{0};
  // What all machines have in common; start() sets the fields that differ. An empty master_addr
  // stands for the first machine's address, and a master_port of 0 for a free port.
  NodeJob job;
};

/// No rank was started, because machines are not ready.
class MachinesNotReady : public Error {
 public:
  MachinesNotReady(const std::string& text, std::set<std::string> unreachable)
      : Error(text), unreachable_(std::move(unreachable)) {}
  /// The names of the machines that gave no answer, if all others are ready; otherwise empty.
  const std::set<std::string>& unreachable() const { return unreachable_; }

 private:
  std::set<std::string> unreachable_;
};

/// The ranks of one attempt to run the job, on the machines of a cluster.
class ClusterRanks : public Ranks {
 public:
  /// Connects to the first `max_nodes` machines, checks them and starts the ranks. Throws
  /// MachinesNotReady with all problems. If a signal to end arrives during the checks, no rank is
  /// started.
  ClusterRanks(const Context& context, ClusterJob job, RankEvents events);
  ~ClusterRanks() override;

  /// The signal that arrived before the ranks were started, or 0.
  int early_signal() const { return early_signal_; }
  void send(int signal) override;
  void reap() override;
  bool ended() const override;

 private:
  struct Machine;

  void connect(const Host& host);
  Question question_to(const Machine& machine) const;
  void wait_for_answers();
  void check_answers() const;
  void compare_programs() const;
  std::string problems_of(const Machine& machine) const;
  void start();
  void take_frame(Machine& machine, const Frame& frame);
  /// Takes a line that is not the agent's, but that of ssh or the login shell.
  void take_noise(const Machine& machine, Stream stream, const std::string& line);

  Context context_;
  ClusterJob job_;
  RankEvents events_;
  std::vector<std::unique_ptr<Machine>> machines_;
  bool has_started_ = false;
  int early_signal_ = 0, num_kills_ = 0;
};

/// Starts the ranks on the machines that can be reached, if these are at least `min_nodes`.
std::unique_ptr<ClusterRanks> start_where_possible(const Context& context, ClusterJob job,
                                                   const RankEvents& events);

}  // namespace hearth::app
