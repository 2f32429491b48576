#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <string>
#include <thread>

#include "distributed/key_table.h"
#include "distributed/socket.h"
#include "distributed/store_protocol.h"

namespace hearth::distributed {

/// Serves a TCPStore on a thread of its own.
class StoreServer {
 public:
  StoreServer(Socket listener, protocol::Greeting expected);
  ~StoreServer();
  /// Waits a moment for the ranks that are about to leave, tells the others that the server closes,
  /// and closes it.
  void stop();
  uint16_t port() const { return port_of(listener_); }

 private:
  struct Client;
  using Clients = std::list<std::unique_ptr<Client>>;

  void serve();
  void accept_clients();
  // The result of a bool function is whether the client stays; of retry(), whether it was answered.
  bool handle(Client& client, short events);
  bool receive(Client& client);
  bool handle_frames(Client& client);
  bool handle_frame(Client& client, std::string_view frame);
  bool greet(Client& client, protocol::Reader& request);
  bool execute(Client& client, uint8_t command, protocol::Reader& request);
  bool read_or_change(Client& client, uint8_t command, protocol::Reader& request);
  void retry_waiting();
  bool retry(Client& client);
  bool join(Client& client, protocol::Reader& request);
  void send(Client& client, protocol::Writer answer);
  bool flush(Client& client);
  void broadcast(const std::string& frame);
  template <class F>
  void keep_if(Clients::iterator client, const F& stays);
  void remove(Clients::iterator client);
  void drop_slow_strangers();

  Socket listener_;
  const protocol::Greeting expected_;
  Socket wake_reader_, wake_writer_;  // the ends of a pipe
  std::atomic<bool> stops_{false};
  std::atomic<int> num_joined_{0};
  KeyTable table_;
  bool table_changed_ = false;
  Clients clients_;
  Deadline accept_again_ = Deadline::never();  // after a failed accept(); never: no pause
  std::thread thread_;
};

}  // namespace hearth::distributed
