#include "address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>

#include "../names.h"
#include "hearth/error.h"

namespace hearth::app {

namespace {

constexpr int kHighestPort = 65535;

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { freeaddrinfo(addresses); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

/// The addresses of a host; null if there are none, with the reason in `problem`.
Addresses addresses_of(const std::string& host, std::string& problem) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const int error = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (error != 0)
    problem = "the machine '" + printable(host) +
              "' is unknown: " + (error == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(error));
  return Addresses(found);
}

/// The address with this port.
sockaddr_storage with_port(const addrinfo& address, int port) {
  sockaddr_storage name{};
  std::memcpy(&name, address.ai_addr, address.ai_addrlen);
  // The port is at the same place in sockaddr_in and sockaddr_in6.
  reinterpret_cast<sockaddr_in&>(name).sin_port = htons(uint16_t(port));
  return name;
}

/// A socket that listens on this address and port, or minus the errno.
int try_to_listen(const addrinfo& address, int port) {
  const sockaddr_storage name = with_port(address, port);
  const int file = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file < 0) return -errno;
  const int on = 1;
  setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(file, reinterpret_cast<const sockaddr*>(&name), address.ai_addrlen) == 0 &&
      listen(file, SOMAXCONN) == 0)
    return file;
  const int error = errno;
  close(file);
  return -error;
}

/// Waits, at most a second, until a socket is connected; returns the errno, 0 for success.
int await_connection(int file) {
  using std::chrono::milliseconds, std::chrono::steady_clock;
  const auto deadline = steady_clock::now() + milliseconds(1000);
  pollfd entry{file, POLLOUT, 0};
  int ready = -1;
  do {
    const auto rest = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    ready = poll(&entry, 1, std::max(0, int(rest.count())));
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0) return ready < 0 ? errno : ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(file, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

/// Connects to this address within a second; returns a non-blocking socket, or minus the errno.
int try_to_connect(const addrinfo& address, int port) {
  const sockaddr_storage name = with_port(address, port);
  const int file = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (file < 0) return -errno;
  int error = 0;
  if (connect(file, reinterpret_cast<const sockaddr*>(&name), address.ai_addrlen) != 0)
    error = errno == EINPROGRESS ? await_connection(file) : errno;
  if (error == 0) return file;
  close(file);
  return -error;
}

/// Calls f for the addresses of a host until it returns a file, and returns the file; if there is
/// none, minus the most important errno.
template <class F>
int first_file(const Addresses& addresses, F f) {
  // Least important: this machine lacks IPv6, or does not have this address.
  const auto importance_of = [](int error) {
    if (error == EAFNOSUPPORT || error == ENETUNREACH) return 0;
    if (error == EADDRNOTAVAIL) return 1;
    return error == EADDRINUSE ? 3 : 2;
  };
  int error = 0;
  for (const addrinfo* address = addresses.get(); address; address = address->ai_next) {
    const int file = f(*address);
    if (file >= 0) return file;
    if (error == 0 || importance_of(-file) > importance_of(error)) error = -file;
  }
  return error == 0 ? -EADDRNOTAVAIL : -error;
}

}  // namespace

int open_listener(const std::string& host, int port, std::string& problem) {
  const Addresses addresses = addresses_of(host, problem);
  const int result =
      first_file(addresses, [&](const addrinfo& address) { return try_to_listen(address, port); });
  if (result >= 0 || !problem.empty()) return result;
  const std::string place = "port " + std::to_string(port) + " of '" + printable(host) + "'";
  if (result == -EADDRNOTAVAIL)
    problem = "'" + printable(host) + "' is not an address of this machine";
  else if (result == -EADDRINUSE)
    problem = place + " is taken by another program; choose another port";
  else
    problem = "cannot listen on " + place + ": " + std::strerror(-result);
  return result;
}

int open_connection(const std::string& host, int port, std::string& problem) {
  const Addresses addresses = addresses_of(host, problem);
  const int result =
      first_file(addresses, [&](const addrinfo& address) { return try_to_connect(address, port); });
  if (result >= 0) return result;
  if (problem.empty())
    problem = "cannot connect to port " + std::to_string(port) + " of '" + printable(host) +
              "': " + std::strerror(-result);
  return -1;
}

std::string parse_endpoint(const std::string& text, Endpoint& endpoint) {
  const std::string expected =
      "'" + printable(text) +
      "' must be HOST or HOST:PORT, for example 10.0.0.1:29500 or [::1]:29500";
  std::string rest;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string::npos) return expected;
    endpoint.host = text.substr(1, end - 1);
    rest = text.substr(end + 1);
  } else {
    const size_t colon = std::min(text.find(':'), text.size());
    if (text.find(':', colon + 1) != std::string::npos && colon < text.size()) return expected;
    endpoint.host = text.substr(0, colon);
    rest = text.substr(colon);
  }
  if (endpoint.host.empty()) return expected;
  if (rest.empty()) return "";
  int port = 0;
  const char* end = rest.data() + rest.size();
  const auto [stop, error] = std::from_chars(rest.data() + 1, end, port);
  if (rest[0] != ':' || error != std::errc() || stop != end) return expected;
  if (port < 1 || port > kHighestPort)
    return "the port of '" + printable(text) + "' must be from 1 to 65535";
  endpoint.port = port;
  return "";
}

std::string listening_problem(const std::string& host, int port) {
  std::string problem;
  const int file = open_listener(host, port, problem);
  if (file >= 0) close(file);
  return problem;
}

std::vector<std::string> resolve(const std::string& host, std::string& problem) {
  std::vector<std::string> numbers;
  const Addresses addresses = addresses_of(host, problem);
  for (const addrinfo* address = addresses.get(); address; address = address->ai_next) {
    char text[NI_MAXHOST] = "";
    getnameinfo(address->ai_addr, address->ai_addrlen, text, sizeof text, nullptr, 0,
                NI_NUMERICHOST);
    numbers.emplace_back(text);
  }
  return numbers;
}

std::string loopback_address(int listener) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  const auto generic = reinterpret_cast<sockaddr*>(&name);
  if (getsockname(listener, generic, &size) != 0) return "";
  bool is_loopback = false;
  if (name.ss_family == AF_INET)
    is_loopback =
        ntohl(reinterpret_cast<sockaddr_in&>(name).sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  else if (name.ss_family == AF_INET6)
    is_loopback = IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<sockaddr_in6&>(name).sin6_addr);
  char text[NI_MAXHOST] = "";
  if (is_loopback) getnameinfo(generic, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return text;
}

int free_port(const std::string& host) {
  std::string problem;
  const int file = open_listener(host, 0, problem);
  HEARTH_CHECK(file >= 0, problem);
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  getsockname(file, reinterpret_cast<sockaddr*>(&name), &size);
  close(file);
  return ntohs(reinterpret_cast<sockaddr_in&>(name).sin_port);
}

}  // namespace hearth::app
