#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hearth::app {

constexpr int kDefaultPort = 29500;

/// The address of a machine, with or without a port: "10.0.0.1:29500", "[::1]:29500", "10.0.0.1".
struct Endpoint {
  std::string host;
  std::optional<int> port;
};

/// Returns an error text; empty if the text was valid.
std::string parse_endpoint(const std::string& text, Endpoint& endpoint);

/// The reason why a new socket cannot listen on this address and port; empty if it can.
std::string listening_problem(const std::string& host, int port);

/// A socket that listens on this address and port, or minus the errno with a reason in `problem`.
int open_listener(const std::string& host, int port, std::string& problem);

/// Tries each address of the host for at most a second; returns a non-blocking connection, or -1
/// with a reason in `problem`.
int open_connection(const std::string& host, int port, std::string& problem);

/// The numeric addresses ("10.0.0.1") that this machine finds for a host; empty with a reason in
/// `problem`.
std::vector<std::string> resolve(const std::string& host, std::string& problem);

/// A port of this address that is free now. Throws if this machine cannot listen on the address.
int free_port(const std::string& host);

/// The address of a listening socket if only this machine can connect to it; otherwise empty.
std::string loopback_address(int listener);

}  // namespace hearth::app
