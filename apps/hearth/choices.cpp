#include "choices.h"

#include <algorithm>
#include <charconv>

#include "names.h"

namespace hearth::app {

CLI::Validator one_of(const std::string& kind, std::vector<std::string> names) {
  const std::string shown = "{" + CLI::detail::join(names, ",") + "}";
  const auto check = [kind, names = std::move(names)](std::string& value) {
    const bool is_known = std::find(names.begin(), names.end(), value) != names.end();
    return is_known ? std::string() : unknown_name(kind, value, names);
  };
  return CLI::Validator(check, shown);
}

CLI::Validator whole_number(int64_t least, int64_t most) {
  return CLI::Validator(
      [least, most](std::string& value) {
        int64_t number = 0;
        const char* end = value.data() + value.size();
        const auto [stop, error] = std::from_chars(value.data(), end, number);
        const bool is_whole = error == std::errc() && stop == end;
        if (is_whole && number >= least && number <= most) return std::string();
        return "'" + printable(value) + "' is not a whole number from " + std::to_string(least) +
               " to " + std::to_string(most);
      },
      "");
}

// CLI11 keeps what validators say of themselves behind the type: "TEXT:{bash,zsh,fish}".
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{'), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

bool takes_path(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto has = [&](const char* word) { return type.find(word) != std::string::npos; };
  return has("FILE") || has("FOLDER") || has("DIR") || has("PATH");
}

std::string value_name(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

std::string flag_of(const CLI::Option& option) {
  if (!option.get_lnames().empty()) return "--" + option.get_lnames().front();
  if (!option.get_snames().empty()) return "-" + option.get_snames().front();
  return {};
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

std::vector<const CLI::Option*> flags_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) {
    return option->nonpositional() && !option->get_group().empty();
  });
}

}  // namespace hearth::app
