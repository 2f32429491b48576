#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "console.h"
#include "job.h"
#include "line_process.h"
#include "options.h"
#include "rendezvous_host.h"
#include "rendezvous_link.h"
#include "supervisor.h"

namespace hearth::app {

/// Runs this machine's ranks of a job whose launchers meet at --rdzv-endpoint, with --nnodes
/// MIN:MAX. The launcher that can listen there hosts the rendezvous.
class ElasticRun {
 public:
  ElasticRun(const Context& context, Console& console, const LaunchOptions& options, NodeJob job);
  ~ElasticRun();
  /// Returns the exit code.
  int run();

 private:
  int take_part();
  void say_farewell(const std::string& reason);
  void host_rendezvous();
  void warn_of_loopback(int listener);
  int connect();
  void take(const RendezvousMessage& message);
  void begin_round(const RendezvousMessage& start);
  int run_round();
  void end_ranks();
  void report_failure(const Failure& failure, Supervisor& supervisor);
  bool has_ended() const { return quit_ || (link_ && link_->is_lost()); }
  /// Whether the ranks of this round have to end.
  bool must_end() const { return has_ended() || ended_round_ == round_; }
  /// Runs the loop until the condition holds, the time has come or a signal asks to end. Returns
  /// that signal, or 0.
  int wait(const std::function<bool()>& is_done,
           std::optional<EventLoop::Clock::time_point> until = {}) const;
  int stop(int signal);
  int finish();

  const Context context_;
  Console& console_;
  const LaunchOptions& options_;
  NodeJob job_;
  std::string host_;  // of --rdzv-endpoint
  int port_ = 0;
  std::string key_;  // proves to the rendezvous that this launcher hosts it
  std::unique_ptr<RendezvousHost> rendezvous_;  // if this launcher hosts it
  std::unique_ptr<RendezvousLink> link_;
  std::optional<RendezvousMessage> start_;  // until its round begins
  std::optional<RendezvousMessage> quit_;   // kQuit or kRefused, which ends the job here
  Supervisor* supervisor_ = nullptr;        // while ranks run
  int round_ = 0;                           // the last one that this launcher has begun
  int ended_round_ = 0;                     // the last one that the host has ended
};

}  // namespace hearth::app
