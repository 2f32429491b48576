#include "distributed/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "hearth/error.h"

namespace hearth::distributed {

namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// The IPv4 addresses of a host, else its other ones; null with an error code in `error`.
Addresses resolve(const std::string& host, uint16_t port, int& error) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  for (const int family : {AF_INET, AF_UNSPEC}) {
    hints.ai_family = family;
    error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
    if (error == 0) return Addresses(found, &freeaddrinfo);
  }
  return Addresses(nullptr, &freeaddrinfo);
}

/// Waits until the socket is ready; returns false after the deadline.
bool wait_for(int descriptor, short events, Deadline deadline) {
  pollfd entry{descriptor, events, 0};
  while (true) {
    const int count = poll(&entry, 1, deadline.poll_timeout());
    if (count > 0) return true;
    if (count < 0 && errno != EINTR)
      detail::fail<DistNetworkError>("waiting for a connection failed: ", std::strerror(errno));
    if (deadline.has_passed()) return false;
  }
}

/// The same, but throws after the deadline.
void wait_until_ready(int descriptor, short events, Deadline deadline) {
  if (!wait_for(descriptor, events, deadline)) detail::fail<TimedOut>("the time-out has passed");
}

/// Connects to one address; returns an empty socket with errno if that fails.
Socket connect_once(const addrinfo& address, Deadline deadline) {
  Socket socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return {};
  if (::connect(socket.descriptor(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return {};
    if (!wait_for(socket.descriptor(), POLLOUT, deadline)) {
      errno = ETIMEDOUT;
      return {};
    }
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      errno = error;
      return {};
    }
  }
  const int on = 1;
  setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  keep_alive(socket.descriptor());
  return socket;
}

/// On Linux a connection to a free local port can, by chance, connect to itself.
bool is_connected_to_itself(const Socket& socket) {
  sockaddr_storage own{}, peer{};
  socklen_t own_size = sizeof own, peer_size = sizeof peer;
  return getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&own), &own_size) == 0 &&
         getpeername(socket.descriptor(), reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0 &&
         own_size == peer_size && std::memcmp(&own, &peer, own_size) == 0;
}

std::string why_not_listening(const std::string& host, uint16_t port, int error) {
  const char* remedy = "";
  if (error == EADDRINUSE)
    remedy = "; another program uses it: choose another port, for example with MASTER_PORT";
  else if (error == EADDRNOTAVAIL)
    remedy =
        "; it is no address of this machine: rank 0 must run on the machine that MASTER_ADDR names";
  else if (error == EACCES)
    remedy = "; ports below 1024 need special rights: choose a larger one";
  return detail::str("cannot listen on port ", port, " of '", host, "': ", std::strerror(error),
                     remedy);
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Socket::send_all(std::string_view data, Deadline deadline) const {
  while (!data.empty()) {
    const ssize_t count =
        ::send(descriptor_, data.data(), data.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0)
      data.remove_prefix(static_cast<size_t>(count));
    else if (errno == EAGAIN || errno == EWOULDBLOCK)
      wait_until_ready(descriptor_, POLLOUT, deadline);
    else if (errno != EINTR)
      detail::fail<ConnectionClosed>("the connection is broken: ", std::strerror(errno));
  }
}

void Socket::receive_all(char* data, size_t size, Deadline deadline) const {
  while (size > 0) {
    const ssize_t count = ::recv(descriptor_, data, size, MSG_DONTWAIT);
    if (count == 0) detail::fail<ConnectionClosed>("the connection was closed by the peer");
    if (count > 0) {
      data += count;
      size -= static_cast<size_t>(count);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      wait_until_ready(descriptor_, POLLIN, deadline);
    } else if (errno != EINTR) {
      detail::fail<ConnectionClosed>("the connection is broken: ", std::strerror(errno));
    }
  }
}

void Socket::shut_down() const { shutdown(descriptor_, SHUT_RDWR); }

Socket listen_on(const std::string& host, uint16_t port) {
  int error = 0;
  const Addresses addresses = resolve(host, port, error);
  if (!addresses)
    detail::fail<DistNetworkError>("the host '", host, "' is unknown: ", gai_strerror(error));
  Socket socket(::socket(addresses->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!socket || ::bind(socket.descriptor(), addresses->ai_addr, addresses->ai_addrlen) != 0 ||
      ::listen(socket.descriptor(), SOMAXCONN) != 0)
    throw DistNetworkError(why_not_listening(host, port, errno));
  return socket;
}

Socket listen_with(int descriptor) {
  if (::listen(descriptor, SOMAXCONN) != 0)
    detail::fail<DistNetworkError>("masterListenFd is ", descriptor,
                                   ", but must be a bound TCP socket: ", std::strerror(errno));
  return Socket(descriptor);
}

Socket connect_to(const std::string& host, uint16_t port, Deadline deadline, Deadline last_try) {
  constexpr milliseconds kMaxPause{100};
  std::string reason;
  for (milliseconds pause(2);; pause = std::min(2 * pause, kMaxPause)) {
    int error = 0;
    const Addresses addresses = resolve(host, port, error);
    if (error == EAI_NONAME)
      detail::fail<CannotConnect>("the host '", host, "' is unknown: ", gai_strerror(error));
    if (!addresses) reason = gai_strerror(error);
    for (const addrinfo* one = addresses.get(); one; one = one->ai_next) {
      Socket socket = connect_once(*one, deadline);
      if (socket && !is_connected_to_itself(socket)) return socket;
      reason = socket ? "nobody listens" : std::strerror(errno);
    }
    if (std::min(deadline.left(), last_try.left()) <= pause)
      detail::fail<CannotConnect>("cannot connect to port ", port, " of '", host,
                                  "' before the time-out: ", reason);
    std::this_thread::sleep_for(pause);
  }
}

uint16_t port_of(const Socket& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::string address_of(const Socket& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  char text[NI_MAXHOST] = "";
  if (getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), &size) == 0)
    getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, text, sizeof text, nullptr, 0,
                NI_NUMERICHOST);
  return text;
}

void keep_alive(int descriptor) {
  // Four probes without an answer end the connection: the first after 10 seconds without data, then
  // one every 5 seconds.
  constexpr std::pair<int, int> kOptions[] = {
      {TCP_KEEPIDLE, 10},
      {TCP_KEEPINTVL, 5},
      {TCP_KEEPCNT, 4},
      {TCP_USER_TIMEOUT, 30000}};  // ms; unacknowledged data suspend the probes
  const int on = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  for (const auto& [option, value] : kOptions)
    setsockopt(descriptor, IPPROTO_TCP, option, &value, sizeof value);
}

void make_nonblocking(int descriptor) {
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL, 0) | O_NONBLOCK);
}

}  // namespace hearth::distributed
