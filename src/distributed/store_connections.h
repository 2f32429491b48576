#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "distributed/socket.h"
#include "distributed/store_protocol.h"

namespace hearth::distributed {

/// Connections to a store's server. A call borrows one, so that calls of several threads, some of
/// which wait, do not hinder each other.
class StoreConnections {
 public:
  StoreConnections(std::string host, uint16_t port, protocol::Greeting greeting)
      : host_(std::move(host)), port_(port), greeting_(std::move(greeting)) {}

  /// Sends a command and returns a reader of `answer`. `waited_for` are the keys for the error of a
  /// time-out.
  protocol::Reader call(protocol::Writer& command, milliseconds timeout, std::string& answer,
                        const std::vector<std::string>& waited_for = {});
  /// A new connection that has said hello. Throws StoreConnectionError.
  Socket connect(milliseconds timeout);
  std::string place() const;  ///< "the store at 10.0.0.1:29500"
  const std::string& host() const { return host_; }
  uint16_t port() const { return port_; }
  std::string local_address(milliseconds timeout);

 private:
  Socket connect_and_greet(milliseconds timeout);
  std::string greet(const Socket& socket, Deadline deadline) const;
  bool may_be_replaced(const std::string& frame, Deadline last_retry) const;
  void check_answer(const std::string& frame) const;
  Socket borrow(milliseconds timeout);
  void give_back(Socket socket);

  const std::string host_;
  const uint16_t port_;
  const protocol::Greeting greeting_;
  std::mutex mutex_;
  std::vector<Socket> idle_;
  std::atomic<bool> was_connected_{false};
};

/// Receives one frame's content, of at most kMaxFrame bytes.
std::string receive_frame(const Socket& socket, Deadline deadline);

}  // namespace hearth::distributed
