#pragma once

#include <vector>

#include "hearth/profiler/events.h"

namespace hearth::profiler {

/// One row per name and, if `by_shape`, input shapes; events of the host and of the devices have
/// separate rows, all steps have one.
EventList averages_by_name(const std::vector<FunctionEvent>& events, bool by_shape,
                           bool with_memory);
/// One row per module, with the number of its calls. An op or a backward node belongs to the
/// innermost module of the forward pass; totals include the submodules. Events outside all modules
/// share the row "(no module)", which counts the outermost ones.
EventList averages_by_module(const std::vector<FunctionEvent>& events, bool with_memory);

}  // namespace hearth::profiler
