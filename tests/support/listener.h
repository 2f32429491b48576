#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>

namespace hearth::testing {

inline sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// A socket that listens at a free port of 127.0.0.1.
class Listener {
 public:
  /// `queue` is the number of connections that may wait to be accepted.
  explicit Listener(int queue = 8) : file_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (bind(file_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(file_, queue) != 0)
      throw std::runtime_error("cannot listen at a port of 127.0.0.1");
    getsockname(file_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { close(file_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  uint16_t port() const { return port_; }
  /// Waits for a client; -1 after stop().
  int accept_client() const { return accept(file_, nullptr, nullptr); }
  void stop() const { shutdown(file_, SHUT_RDWR); }

 private:
  const int file_;
  uint16_t port_ = 0;
};

/// A port at which nothing listens.
inline uint16_t free_port() { return Listener().port(); }

}  // namespace hearth::testing
