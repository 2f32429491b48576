#pragma once

#include <string>

#include "options.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hearth::app {

/// The options as the content of a TOML file for apply_config().
std::string config_text(const TrainOptions& options);

/// False for the flags that cannot be set in a file.
bool is_setting(const CLI::Option& option);

/// Sets a command's options from a TOML file whose keys are the flags' names. Flags on the command
/// line take precedence.
void apply_config(CLI::App& command, const std::string& path);

}  // namespace hearth::app
