#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "plot.h"

namespace hearth::app {

/// The charts of a recording of memory_snapshot(), one for each device with memory in it: memory
/// over time by tag. `source` names the recording in errors.
std::vector<Chart> memory_charts(const std::string& json, const std::string& source);

/// Adds `hearth plot-memory`: draws a recording of memory_snapshot() as a PNG file.
void add_plot_memory(CLI::App& app);

}  // namespace hearth::app
