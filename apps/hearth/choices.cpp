#include "choices.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>

#include "names.h"
#include "text_table.h"

namespace hearth::app {

namespace {

/// The values of each option. The option's check owns them, so an entry expires with its option.
std::map<const CLI::Option*, std::weak_ptr<const Values>>& registry() {
  static std::map<const CLI::Option*, std::weak_ptr<const Values>> values;
  return values;
}

/// The text as a finite float64; otherwise nullopt, with the reason in `error`.
std::optional<double> parsed_number(const std::string& text, const std::string& expected,
                                    std::string& error) {
  char* end = nullptr;
  errno = 0;
  const double value = std::strtod(text.c_str(), &end);
  const bool is_number = !text.empty() && end == text.c_str() + text.size();
  if (is_number && errno == ERANGE)
    error = "'" + printable(text) + "' is too " + (std::isfinite(value) ? "small" : "large") +
            " for a float64";
  else if (!is_number || !std::isfinite(value))
    error = "expected " + expected + ", not '" + printable(text) + "'";
  return error.empty() ? std::optional(value) : std::nullopt;
}

CLI::Validator number_that(const std::string& expected, std::function<bool(double)> fits) {
  return CLI::Validator(
      [expected, fits](std::string& text) {
        std::string error;
        const std::optional<double> value = parsed_number(text, expected, error);
        if (!value || fits(*value)) return error;
        return "expected " + expected + ", not '" + printable(text) + "'";
      },
      "");
}

}  // namespace

CLI::Option* suggest_values(CLI::Option* option, Values values) {
  const auto shared = std::make_shared<const Values>(std::move(values));
  registry()[option] = shared;
  return option->check([shared](const std::string& value) {
    const bool is_missing = value.empty() && shared->paths != Values::Paths::kNone;
    return std::string(is_missing ? "the path is empty" : "");
  });
}

CLI::Option* accept_only(CLI::Option* option, const std::string& kind,
                         std::vector<std::string> names) {
  option->check([kind, names](const std::string& value) {
    const bool is_known = std::find(names.begin(), names.end(), value) != names.end();
    return is_known ? std::string() : unknown_name(kind, value, names);
  });
  return suggest_values(option, {std::move(names), Values::Paths::kNone});
}

Values values_of(const CLI::Option& option) {
  const auto found = registry().find(&option);
  const auto values = found == registry().end() ? nullptr : found->second.lock();
  return values ? *values : Values();
}

bool has_empty_item(const std::string& list) {
  return list.empty() || list.front() == ',' || list.back() == ',' ||
         list.find(",,") != std::string::npos;
}

void refuse_empty_items(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* command = &app;
  const CLI::Option* list = nullptr;  // the latest flag, if its value is a list
  for (const std::string& argument : arguments) {
    for (const CLI::App* named : commands_of(*command))
      if (named->get_name() == argument) command = named;
    const bool is_long = argument.starts_with("--");
    const bool is_flag = is_long || (argument.size() > 1 && argument[0] == '-' &&
                                     std::isalpha(static_cast<unsigned char>(argument[1])));
    const size_t equals = is_long ? argument.find('=') : std::string::npos;
    if (is_flag) {
      const CLI::Option* option = command->get_option_no_throw(argument.substr(0, equals));
      list = option && option->get_delimiter() == ',' ? option : nullptr;
    }
    const bool has_value = list && (!is_flag || equals != std::string::npos);
    const std::string value = has_value && is_flag ? argument.substr(equals + 1) : argument;
    if (has_value && has_empty_item(value))
      throw CLI::ValidationError(flag_of(*list), "an item of the list '" + value + "' is empty");
  }
}

CLI::Validator whole_number(uint64_t least, uint64_t most) {
  return CLI::Validator(
      [least, most](std::string& value) {
        uint64_t number = 0;
        const char* end = value.data() + value.size();
        const auto [stop, error] = std::from_chars(value.data(), end, number);
        const bool is_whole = error == std::errc() && stop == end;
        if (is_whole && number >= least && number <= most) return std::string();
        return "'" + printable(value) + "' is not a whole number from " + std::to_string(least) +
               " to " + std::to_string(most);
      },
      "");
}

CLI::Validator positive_number() {
  return number_that("a number above 0", [](double value) { return value > 0; });
}

CLI::Validator number_between(double least, double most) {
  return number_that("a number from " + shortest(least) + " to " + shortest(most),
                     [=](double value) { return least <= value && value <= most; });
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::string value_name(const CLI::Option& option) { return option.get_type_name(); }

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
