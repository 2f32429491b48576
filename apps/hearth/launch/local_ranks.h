#pragma once

#include <memory>
#include <string>
#include <vector>

#include "job.h"
#include "line_process.h"
#include "ranks.h"

namespace hearth::app {

/// The ranks of one attempt to run the job, on this machine.
class LocalRanks : public Ranks {
 public:
  /// Starts the ranks; `host` is the name of this machine in output and failures.
  LocalRanks(const Context& context, const NodeJob& job, const std::string& host,
             RankEvents events);

  void send(int signal) override;
  void reap() override;
  bool ended() const override;

 private:
  void start(const Context& context, const NodeJob& job, int local_rank);

  std::string host_;
  RankEvents events_;
  int first_rank_;
  std::vector<std::unique_ptr<LineProcess>> ranks_;
};

/// The name of this machine.
std::string host_name();

}  // namespace hearth::app
