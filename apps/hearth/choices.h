#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace hearth::app {

/// What is offered for an option's value by help and completion.
struct Values {
  enum class Paths { kNone, kFiles, kFolders };
  std::vector<std::string> names;
  Paths paths = Paths::kNone;
};

/// Keeps the values beside the option, as long as it lives; nothing is checked.
CLI::Option* offer(CLI::Option* option, Values values);
/// The same for names that are all there is: refuses others and says which is near.
CLI::Option* offer_only(CLI::Option* option, const std::string& kind,
                        std::vector<std::string> names);
/// Nothing if nothing was offered.
Values values_of(const CLI::Option& option);

/// Whether a list by commas has an item of no letters.
bool has_empty_item(const std::string& list);
/// Throws if one of the arguments is a list with an empty item, which parsing would leave out.
void check_lists(const CLI::App& app, const std::vector<std::string>& arguments);

CLI::Validator whole_number(int64_t least, int64_t most = std::numeric_limits<int64_t>::max());

bool takes_value(const CLI::Option& option);
/// What help calls the value: "INT".
std::string value_name(const CLI::Option& option);
/// --size, or -h if there is nothing longer; empty for an argument without a name.
std::string flag_of(const CLI::Option& option);

/// Those that are not hidden.
std::vector<const CLI::App*> commands_of(const CLI::App& app);
std::vector<const CLI::Option*> flags_of(const CLI::App& app);

}  // namespace hearth::app
