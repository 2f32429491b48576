#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "distributed/socket.h"
#include "hearth/distributed/tcp_store.h"

namespace hearth::distributed {

/// Receives news about the ranks of a job, on the membership's thread.
class MembershipListener {
 public:
  virtual ~MembershipListener() = default;
  /// A rank has left the job without a failure.
  virtual void on_left(int rank) = 0;
  /// A rank has ended without leaving; kStoreServer stands for the server of the store.
  virtual void on_lost(int rank, const std::string& description) = 0;
  virtual void on_announcement(const std::string& text) = 0;

  static constexpr int kStoreServer = -1;
};

/// Throws because a second process has come with the rank of `other`.
[[noreturn]] void throw_rank_is_taken(int rank, const std::string& me, const std::string& other);

/// A connection to the store's server that stands for this rank: when it breaks, the server tells
/// all other ranks.
class Membership {
 public:
  Membership(TCPStore& store, int rank, const std::string& description);
  ~Membership() { leave(); }
  /// Leaves the job without a failure. The listeners are not called any more. Waits up to
  /// `patience` for the server to close, so that this process does not find the old server if it
  /// joins again.
  void leave(milliseconds patience = milliseconds(0));

  void add(MembershipListener& listener);
  /// Afterwards the listener is not called any more.
  void remove(MembershipListener& listener);
  /// Calls on_announcement of all listeners in all ranks.
  void announce(const std::string& text);

 private:
  void listen();
  void handle(const std::string& frame);
  void note_closed_server();
  template <class F>
  void tell(const F& call);

  Socket socket_;
  const std::string place_;
  std::mutex sending_;
  std::mutex mutex_;  // of the members below
  std::vector<MembershipListener*> listeners_;
  bool leaves_ = false;
  bool server_closed_ = false;
  std::condition_variable closed_;
  std::thread thread_;
};

}  // namespace hearth::distributed
