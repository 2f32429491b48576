#pragma once

#include <vector>

#include "hearth/profiler/events.h"

namespace hearth::profiler {

EventList averages_by_name(const std::vector<FunctionEvent>& events, bool by_shape,
                           bool with_memory);
/// One row per module; ops and backward nodes count for the innermost module of the forward pass.
EventList averages_by_module(const std::vector<FunctionEvent>& events, bool with_memory);

}  // namespace hearth::profiler
