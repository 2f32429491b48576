#pragma once

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/listener.h"

namespace hearth::testing {

/// A server of another kind than the one that a client expects: it sends each client only a
/// greeting, which may be empty.
class Stranger {
 public:
  explicit Stranger(std::string greeting)
      : greeting_(std::move(greeting)), thread_([this] {
          for (int client = 0; (client = listener_.accept_client()) >= 0;) {
            (void)!write(client, greeting_.data(), greeting_.size());
            clients_.push_back(client);
          }
        }) {}
  ~Stranger() {
    listener_.stop();
    thread_.join();
    for (const int file : clients_) close(file);
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  uint16_t port() const { return listener_.port(); }

 private:
  const std::string greeting_;
  const Listener listener_;
  std::vector<int> clients_;
  std::thread thread_;
};

}  // namespace hearth::testing
