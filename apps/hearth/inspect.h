#pragma once

#include <CLI/CLI.hpp>

namespace hearth::app {

/// Adds `hearth inspect`: names, shapes, dtypes and statistics of a file's tensors.
void add_inspect(CLI::App& app);

}  // namespace hearth::app
