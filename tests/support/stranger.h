#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace hearth::testing {

/// A server of another kind than the one that a client expects: it sends a greeting to each client,
/// or nothing.
class Stranger {
 public:
  explicit Stranger(std::string greeting)
      : greeting_(std::move(greeting)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    listen(listener_, 8);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      for (int client = 0; (client = accept(listener_, nullptr, nullptr)) >= 0;) {
        (void)!write(client, greeting_.data(), greeting_.size());
        clients_.push_back(client);
      }
    });
  }
  ~Stranger() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    for (const int file : clients_) close(file);
    close(listener_);
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  uint16_t port() const { return port_; }

 private:
  const std::string greeting_;
  const int listener_;
  uint16_t port_ = 0;
  std::vector<int> clients_;
  std::thread thread_;
};

}  // namespace hearth::testing
