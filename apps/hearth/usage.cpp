#include "usage.h"

#include <iostream>

#include "choices.h"
#include "names.h"

namespace hearth::app {

namespace {

std::string without_brackets(const std::string& list) {
  return list.size() >= 2 && list.front() == '[' ? list.substr(1, list.size() - 2) : list;
}

/// The innermost command on the command line: `hearth bench`, or `hearth` itself.
const CLI::App& innermost(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  return parsed.empty() ? app : innermost(*parsed.back());
}

std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return (parent ? full_name(*parent) + " " : "") + command.get_name();
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

std::string explanation(const CLI::App& command, const CLI::ParseError& error) {
  std::vector<std::string> extras = command.remaining();
  std::erase(extras, "--");  // CLI11 keeps it if arguments follow
  const std::vector<std::string> commands = names_of(commands_of(command));
  if (extras.empty()) {
    const bool is_incomplete = error.get_exit_code() == int(CLI::ExitCodes::RequiredError);
    if (commands.empty() || !is_incomplete) return error.what();
    return "a command is missing: " + CLI::detail::join(commands, ", ");
  }
  const std::string& first = extras.front();
  if (first[0] == '-') {
    std::vector<std::string> flags;
    for (const CLI::Option* flag : flags_of(command)) flags.push_back(flag_of(*flag));
    return unknown_name("flag", first.substr(0, first.find('=')), flags);
  }
  if (!commands.empty()) return unknown_name("command", first, commands);
  return full_name(command) + " does not take the argument '" + first + "'";
}

}  // namespace

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (!takes_value(*option)) return {};
  const bool is_list = option->get_items_expected_max() > 1;
  return " " + value_name(*option) + (is_list ? ",..." : "");
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  std::string text = option->get_description();
  const std::vector<std::string> choices = values_of(*option).names;
  if (!choices.empty()) text += ": " + CLI::detail::join(choices, ", ");
  const std::string value = without_brackets(option->get_default_str());
  if (takes_value(*option) && !value.empty()) text += " (default " + value + ")";
  return text;
}

int finish_parsing(const CLI::App& app, const CLI::ParseError& error) {
  const bool has_own_code = dynamic_cast<const CLI::RuntimeError*>(&error);
  if (has_own_code || error.get_exit_code() == int(CLI::ExitCodes::Success))
    return app.exit(error, std::cout, std::cerr);
  const CLI::App& command = innermost(app);
  std::cerr << "hearth: " << printable(explanation(command, error)) << "\nRun '"
            << full_name(command) << " --help' for help.\n";
  return kUsageError;
}

}  // namespace hearth::app
