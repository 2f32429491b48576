#pragma once

#include <chrono>

namespace hearth::app {

/// `hearth launch --agent`: runs ranks for a launcher on another machine, which writes to stdin.
/// When stdin ends or is silent for longer than the time-out, because the connection has ended, so
/// do the ranks.
void run_agent(std::chrono::seconds timeout);

}  // namespace hearth::app
