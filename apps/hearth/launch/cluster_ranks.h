#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cluster_file.h"
#include "job.h"
#include "line_process.h"
#include "protocol.h"
#include "ranks.h"

namespace hearth::app {

/// An attempt on all machines of a cluster file.
struct ClusterJob {
  std::string file;  // for errors
  Cluster cluster;
  std::string ssh;
  int grace = 0;  // seconds
  NodeJob job;    // what all machines have in common; without a port, a free one is used
};

/// The ranks of one attempt on the machines of a cluster.
class ClusterRanks : public Ranks {
 public:
  /// Connects to all machines and checks them; throws an error with all problems. If a signal asks
  /// to end meanwhile, no rank is started.
  ClusterRanks(const Context& context, const ClusterJob& job, RankEvents events);
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
  std::string problems_of(const Machine& machine) const;
  void start();
  void take_frame(Machine& machine, const Frame& frame);
  void take_noise(const Machine& machine, Stream stream, const std::string& line);

  Context context_;
  const ClusterJob& job_;
  RankEvents events_;
  std::vector<std::unique_ptr<Machine>> machines_;
  bool has_started_ = false;
  int early_signal_ = 0, num_kills_ = 0;
};

}  // namespace hearth::app
