#pragma once

#include <functional>
#include <optional>

#include "event_loop.h"
#include "signals.h"

namespace hearth::app {

/// Runs the loop until the condition holds, the time has come or a signal asks to end. Returns that
/// signal, or 0.
int wait_until(EventLoop& loop, const SignalReader& signals, const std::function<bool()>& is_done,
               std::optional<EventLoop::Clock::time_point> until = {});

}  // namespace hearth::app
