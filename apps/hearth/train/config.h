#pragma once

#include <string>

#include "options.h"

namespace CLI {
class App;
}

namespace hearth::app {

/// The options as a TOML file that gives them again.
std::string config_text(const TrainOptions& options);

/// Gives the options of a command that no flag has set the values in a TOML file, whose keys are
/// the flags' names.
void apply_config(CLI::App& command, const std::string& path);

}  // namespace hearth::app
