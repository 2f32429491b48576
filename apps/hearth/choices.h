#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace hearth::app {

/// The values that the help text and the shell's completion suggest for an option.
struct Values {
  enum class Paths { kNone, kFiles, kFolders };
  std::vector<std::string> names;
  Paths paths = Paths::kNone;
  bool repeats = false;  // the words after this positional value are completed like it
};

/// Makes the help text and the completion suggest these values; the option accepts others, too,
/// but if they are paths, no empty one.
CLI::Option* suggest_values(CLI::Option* option, Values values);
/// Makes the option accept only these names, and suggests them in the same way. The error for
/// another name ("unknown <kind> 'x'") suggests the nearest one.
CLI::Option* accept_only(CLI::Option* option, const std::string& kind,
                         std::vector<std::string> names);
/// The values given to suggest_values() or accept_only(); empty if there were none.
Values values_of(const CLI::Option& option);

/// Whether a comma-separated list has an empty item.
bool has_empty_item(const std::string& list);
/// Throws if an argument is a list with an empty item, which CLI11 would silently drop.
void refuse_empty_items(const CLI::App& app, const std::vector<std::string>& arguments);

/// Accepts whole numbers from `least` to `most`.
CLI::Validator whole_number(uint64_t least, uint64_t most = std::numeric_limits<int64_t>::max());

/// Accepts numbers above 0.
CLI::Validator positive_number();
/// Accepts numbers from `least` to `most`.
CLI::Validator number_between(double least, double most);

bool takes_value(const CLI::Option& option);
/// The value's name in the help text: "INT".
std::string value_name(const CLI::Option& option);
/// "--size", or "-h" without a long name; empty for a positional argument.
std::string flag_of(const CLI::Option& option);

// The commands and flags that are not hidden.
std::vector<const CLI::App*> commands_of(const CLI::App& app);
std::vector<const CLI::Option*> flags_of(const CLI::App& app);

}  // namespace hearth::app
