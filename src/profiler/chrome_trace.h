#pragma once

#include <string>
#include <vector>

#include "hearth/profiler/events.h"

namespace hearth::profiler {

/// The events in the JSON of Chrome's trace viewer.
std::string chrome_trace(const std::vector<FunctionEvent>& events);

}  // namespace hearth::profiler
