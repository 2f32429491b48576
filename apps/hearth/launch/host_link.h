#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cluster_file.h"
#include "line_process.h"
#include "outlet.h"
#include "protocol.h"

namespace hearth::app {

/// The words of the local command that starts an agent on a host by ssh.
std::vector<std::string> agent_command(const std::string& ssh, const Host& host);

/// A connection to an agent on another machine.
class HostLink {
 public:
  struct Events {
    std::function<void(const Frame&)> frame;
    /// A line that is not the agent's: from ssh, the login shell or a crash.
    std::function<void(Stream, const std::string&)> noise;
  };

  HostLink(const Context& context, const std::string& ssh, const Host& host, Events events);

  void send_line(const std::string& line) { in_.write(line + "\n"); }
  /// The local ssh.
  LineProcess& process() { return process_; }
  const LineProcess& process() const { return process_; }

 private:
  LineProcess process_;
  Outlet in_;
};

}  // namespace hearth::app
