#pragma once

#include <chrono>

namespace hearth::app {

/// `hearth launch --agent`: runs ranks on this machine; the launcher, on another machine, writes to
/// the agent's stdin. The ranks are ended when stdin ends or is silent for longer than the
/// time-out, because then the connection is lost.
void run_agent(std::chrono::seconds timeout);

}  // namespace hearth::app
