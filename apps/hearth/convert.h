#pragma once

#include <CLI/CLI.hpp>

namespace hearth::app {

/// Adds `hearth convert`: copies tensors from a file to one of another format.
void add_convert(CLI::App& app);

}  // namespace hearth::app
