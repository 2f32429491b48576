#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace hearth::app {

/// For an option whose values are names: refuses others and says which is near.
CLI::Validator one_of(const std::string& kind, std::vector<std::string> names);
CLI::Validator whole_number(int64_t least, int64_t most = std::numeric_limits<int64_t>::max());
/// The names; empty if the option takes others too.
std::vector<std::string> choices_of(const CLI::Option& option);

bool takes_value(const CLI::Option& option);
bool takes_path(const CLI::Option& option);
/// What help calls the value: "INT".
std::string value_name(const CLI::Option& option);
/// --size, or -h if there is nothing longer; empty for an argument without a name.
std::string flag_of(const CLI::Option& option);

/// Those that are not hidden.
std::vector<const CLI::App*> commands_of(const CLI::App& app);
std::vector<const CLI::Option*> flags_of(const CLI::App& app);

}  // namespace hearth::app
