#pragma once

#include <chrono>

namespace hearth::app {

/// `hearth launch --agent`: runs ranks for a launcher on another machine, which writes to stdin.
/// The ranks are ended when stdin ends or is silent for longer than the time-out, because then the
/// connection is lost.
void run_agent(std::chrono::seconds timeout);

}  // namespace hearth::app
