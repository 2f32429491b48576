#pragma once

#include <CLI/CLI.hpp>

namespace hearth::app {

/// Adds `hearth top`: shows the ranks of a running job.
void add_top(CLI::App& app);

}  // namespace hearth::app
