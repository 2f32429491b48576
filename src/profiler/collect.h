#pragma once

#include <vector>

#include "hearth/profiler/events.h"
#include "profiler/session.h"

namespace hearth::profiler {

/// The events of a session that has ended: for each thread in the order of their starts, then those
/// of the devices.
std::vector<FunctionEvent> collect(Session& session);

}  // namespace hearth::profiler
