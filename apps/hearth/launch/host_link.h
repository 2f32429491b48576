#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cluster_file.h"
#include "heartbeat.h"
#include "line_process.h"
#include "outlet.h"
#include "protocol.h"

namespace hearth::app {

/// The words of the local command that starts an agent on a host by ssh.
std::vector<std::string> agent_command(const std::string& ssh, const Host& host,
                                       std::chrono::seconds timeout);

/// A connection to an agent on another machine.
class HostLink {
 public:
  struct Events {
    std::function<void(const Frame&)> frame;
    /// A line that is not the agent's: from ssh, the login shell or a crash.
    std::function<void(Stream, const std::string&)> noise;
  };

  /// A connection that is silent for longer than the time-out is cut.
  HostLink(const Context& context, const std::string& ssh, const Host& host,
           std::chrono::seconds timeout, Events events);

  void send_line(const std::string& line) { to_agent_.write(line + "\n"); }
  /// The local ssh.
  LineProcess& process() { return process_; }
  const LineProcess& process() const { return process_; }
  /// Whether the connection was cut because nothing was heard.
  bool was_silent() const { return was_silent_; }

 private:
  void beat();
  void cut();

  EventLoop& loop_;
  LineProcess process_;
  Outlet to_agent_;
  Heartbeat heartbeat_;
  bool was_silent_ = false;
};

}  // namespace hearth::app
