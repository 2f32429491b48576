#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "distributed/deadline.h"
#include "hearth/error.h"

namespace hearth::distributed {

/// The peer has closed the connection, or it is broken.
struct ConnectionClosed : DistNetworkError {
  using DistNetworkError::DistNetworkError;
};

/// The time-out has passed.
struct TimedOut : DistNetworkError {
  using DistNetworkError::DistNetworkError;
};

/// No connection came about: the host is unknown or not reachable, or nothing listens there.
struct CannotConnect : DistNetworkError {
  using DistNetworkError::DistNetworkError;
};

/// An open socket, which is closed when it is destroyed. send_all and receive_all throw a
/// DistNetworkError.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    Socket taken(std::move(other));
    std::swap(descriptor_, taken.descriptor_);
    return *this;
  }
  ~Socket();

  int descriptor() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

  void send_all(std::string_view data, Deadline deadline) const;
  /// Fills `size` bytes.
  void receive_all(char* data, size_t size, Deadline deadline) const;
  /// Makes the threads that wait for this socket fail.
  void shut_down() const;

 private:
  int descriptor_ = -1;
};

/// A socket that listens on the host's address only; port 0 is any free port.
Socket listen_on(const std::string& host, uint16_t port);
/// Makes a bound socket listen, and takes it over.
Socket listen_with(int descriptor);
/// Connects to a server before `deadline`. If a try fails, for example because the server has not
/// started yet, begins another one until `last_try`. Throws CannotConnect.
Socket connect_to(const std::string& host, uint16_t port, Deadline deadline, Deadline last_try);
uint16_t port_of(const Socket& socket);
/// The address of this end of a connection: "10.0.0.7".
std::string address_of(const Socket& socket);
void make_nonblocking(int descriptor);
/// Makes a connection fail within 30 seconds if the other machine cannot be reached any more, also
/// while nothing is sent.
void keep_alive(int descriptor);

}  // namespace hearth::distributed
