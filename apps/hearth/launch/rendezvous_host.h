#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "event_loop.h"
#include "rendezvous_link.h"
#include "timer.h"

namespace hearth::app {

/// Brings the launchers of an elastic job together, in the launcher at --rdzv-endpoint. It gives
/// out the ranks when enough machines are there, and starts all ranks again when one fails or a
/// machine is lost, as often as --max-restarts allows, and when a machine joins.
class RendezvousHost {
 public:
  struct Settings {
    int min_nodes = 1, max_nodes = 1, max_restarts = 0;
    std::chrono::seconds heartbeat_timeout{0};
    std::string token;               // a launcher must know it
    std::string key;                 // of the launcher that hosts; its machine has rank 0
    std::string master_addr;         // an address of this machine
    std::optional<int> master_port;  // otherwise a free one
    std::string rank_token, run_id, launch_id;
    std::function<void(const std::string&)> note;  // shows a line, which ends with a newline
  };
  /// Takes over the listening socket.
  RendezvousHost(EventLoop& loop, int listener, Settings settings);
  ~RendezvousHost();
  RendezvousHost(const RendezvousHost&) = delete;
  RendezvousHost& operator=(const RendezvousHost&) = delete;

  /// Ends the job: tells all launchers the exit code and, unless it is empty, the reason.
  void quit(int status, const std::string& reason);
  /// Whether the job has ended and all launchers were told.
  bool is_done() const;

 private:
  using Clock = EventLoop::Clock;
  enum class Phase { kGathering, kRunning, kEnding, kDone };
  struct Member;

  void accept_members();
  void take(Member& member, const RendezvousMessage& message);
  /// Accepts or refuses a launcher by its first message.
  void greet(Member& member, const RendezvousMessage& hello);
  /// Called by the timer: drops lost launchers, and ends the phase if its condition is met.
  void step();
  void drop_lost();
  /// Starts a round if enough machines are there.
  void gather();
  void start();
  void watch();
  void end_round(const std::string& reason, int status);
  void finish_round();
  void send_to_all(const RendezvousMessage& message) const;
  std::vector<Member*> ready() const;
  size_t round_size() const;

  EventLoop& loop_;
  const int listener_;
  const Settings settings_;
  std::list<std::unique_ptr<Member>> members_;  // in the order in which they came
  Phase phase_ = Phase::kGathering;
  int round_ = 0, num_restarts_ = 0, status_ = 0, master_port_ = 0;
  size_t wanted_ = 0;   // machines with which the next round starts at once
  std::string reason_;  // why the round ended, or the ranks start again
  RendezvousMessage quit_message_;
  Clock::time_point gathering_since_ = Clock::now();
  // The end of the wait for more machines; none while the least number is not there.
  std::optional<Clock::time_point> last_call_;
  Timer timer_;
};

}  // namespace hearth::app
