#pragma once

#include <memory>
#include <optional>

#include "cluster_ranks.h"
#include "console.h"
#include "event_loop.h"
#include "guard.h"
#include "job.h"
#include "options.h"
#include "signals.h"
#include "supervisor.h"

namespace hearth::app {

/// Runs the ranks of one command line, again after failures if that is allowed.
class Launcher {
 public:
  explicit Launcher(const LaunchOptions& options);
  /// Returns the exit code.
  int run();

 private:
  void prepare_program();
  void prepare_machine();
  void prepare_cluster();
  int run_attempts();
  /// Runs all ranks once; false if they were to be started again, but machines were not ready.
  bool run_attempt(int restart, Supervisor& supervisor);
  bool run_on_cluster(const Context& context, const RankEvents& events, Supervisor& supervisor);
  void choose_port();
  void flush();

  const LaunchOptions& options_;
  NodeJob job_;
  std::optional<ClusterJob> cluster_;
  std::optional<int> port_;  // the port that the user has chosen
  SignalReader signals_;
  Guard guard_;
  EventLoop loop_;
  Console console_;
};

}  // namespace hearth::app
