#include "completion.h"

#include "choices.h"
#include "quotes.h"

namespace hearth::app {

namespace {

std::string joined(const std::vector<std::string>& words) { return CLI::detail::join(words, " "); }

/// Inserts `prefix` before each character of the text that is in `characters`.
std::string escaped(std::string text, const std::string& characters, const std::string& prefix) {
  for (size_t i = 0; (i = text.find_first_of(characters, i)) != std::string::npos;
       i += prefix.size() + 1)
    text.insert(i, prefix);
  return text;
}

bool is_list(const CLI::Option& option) { return option.get_delimiter() != '\0'; }

/// Suggestions for words that are not values of a flag: subcommands, positional values, flags.
std::vector<std::string> words_of(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* subcommand : commands_of(command)) words.push_back(subcommand->get_name());
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional())
      for (const std::string& name : values_of(*option).names) words.push_back(name);
  for (const CLI::Option* flag : flags_of(command)) words.push_back(flag_of(*flag));
  return words;
}

/// The paths that positional arguments of the command can be; kFiles includes folders.
Values::Paths positional_paths(const CLI::App& command) {
  Values::Paths result = Values::Paths::kNone;
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional() && result != Values::Paths::kFiles)
      if (const auto paths = values_of(*option).paths; paths != Values::Paths::kNone)
        result = paths;
  return result;
}

// ---- bash

/// The bash code that completes a word: one of `words` or a path.
std::string bash_suggestions(const std::vector<std::string>& words, Values::Paths paths) {
  const std::string call = "complete_as -W " + in_quotes(joined(words));
  if (paths == Values::Paths::kNone) return call;
  return "compopt -o filenames 2>/dev/null; " + call +
         (paths == Values::Paths::kFiles ? " -f" : " -d");
}

/// The bash code that completes the flag's value.
std::string bash_value(const CLI::Option& flag) {
  const Values values = values_of(flag);
  const bool has_items = is_list(flag) && !values.names.empty();
  return (has_items ? "earlier=${word%\"${word##*,}\"}; " : "") +
         bash_suggestions(values.names, values.paths);
}

std::string bash_script(const CLI::App& app) {
  const std::string name = app.get_name();
  const auto line = [](const std::string& pattern, const std::string& action) {
    return "    " + pattern + ") " + action + " ;;\n";
  };
  const auto bash_words = [](const CLI::App& command) {
    return bash_suggestions(words_of(command), positional_paths(command));
  };
  std::string cases = line("' '*", bash_words(app));
  for (const CLI::App* command : commands_of(app)) {
    for (const CLI::Option* flag : flags_of(*command))
      if (takes_value(*flag))
        cases += line(in_quotes(command->get_name() + " " + flag_of(*flag)), bash_value(*flag));
    cases += line(in_quotes(command->get_name() + " ") + "*", bash_words(*command));
  }
  // complete_as() puts $earlier, all items of a list but the last, before each suggestion.
  return "_" + name + R"(() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command= earlier=
  [[ $COMP_CWORD -gt 1 ]] && command=${COMP_WORDS[1]}
  # Bash splits --flag=value into three words.
  if [[ $word == = ]]; then
    word=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  complete_as() { mapfile -t COMPREPLY < <(compgen -P "$earlier" "$@" -- "${word#"$earlier"}"); }
  COMPREPLY=()
  case "$command $previous" in
)" + cases +
         "  esac\n  unset -f complete_as\n}\ncomplete -F _" + name + " " + name + "\n";
}

// ---- zsh

/// The zsh action that completes a value; colons are escaped, because _arguments splits at them. In
/// a list they are escaped twice, because _values splits at them, too.
std::string zsh_value(const CLI::Option& flag) {
  const Values values = values_of(flag);
  const std::string names = "(" + escaped(joined(values.names), ":", "\\") + ")";
  const char* path_action = values.paths == Values::Paths::kFolders ? "_files -/" : "_files";
  if (values.paths == Values::Paths::kNone) {
    if (!is_list(flag) || values.names.empty()) return names;
    return "_values -s , " + value_name(flag) + " " + escaped(joined(values.names), ":", "\\\\\\");
  }
  if (values.names.empty()) return path_action;
  // Without the space, _arguments would pass options that _alternative refuses.
  return " _alternative \"names\\:name\\:" + names + "\" \"files\\:file\\:" + path_action + "\"";
}

/// A specification for _arguments: "--size=[description]:INT:(one two)".
std::string zsh_flag(const CLI::Option& flag) {
  const std::string name = flag_of(flag) + (takes_value(flag) ? "=" : "");
  std::string text = name + "[" + escaped(flag.get_description(), "[]:", "\\") + "]";
  if (takes_value(flag)) text += ":" + value_name(flag) + ":" + zsh_value(flag);
  return in_quotes(text);
}

/// A specification for _arguments: "2:to:_files", or "*:folders:_files -/" for all further words.
std::string zsh_positional(const CLI::Option& option, int position) {
  const bool repeats = option.get_items_expected_max() > 1 || values_of(option).repeats;
  return in_quotes((repeats ? "*" : std::to_string(position)) + ":" + option.get_name() + ":" +
                   zsh_value(option));
}

std::string zsh_arguments(const CLI::App& command) {
  std::string text = "_arguments";
  for (const CLI::Option* flag : flags_of(command)) text += " \\\n        " + zsh_flag(*flag);
  int position = 0;
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional()) text += " \\\n        " + zsh_positional(*option, ++position);
  return text;
}

std::string zsh_script(const CLI::App& app) {
  const std::string name = app.get_name();
  std::string commands, cases;
  for (const CLI::App* command : commands_of(app)) {
    commands +=
        "    " +
        in_quotes(command->get_name() + ":" + escaped(command->get_description(), ":", "\\")) +
        "\n";
    cases += "    " + command->get_name() + ") " + zsh_arguments(*command) + " ;;\n";
  }
  return "#compdef " + name + "\n_" + name + "() {\n  local -a commands=(\n" + commands +
         "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    " +
         zsh_arguments(app) + "\n    return\n  fi\n" +
         "  shift words\n  (( CURRENT-- ))\n  case $words[1] in\n" + cases + "  esac\n}\n" +
         "# Zsh autoloads this file as a function, or the user runs it with source.\n"
         "if [[ $funcstack[1] == _" +
         name + " ]]; then\n  _" + name + "\nelse\n  compdef _" + name + " " + name + "\nfi\n";
}

// ---- fish

std::string fish_line(const std::string& program, const std::string& condition,
                      const std::string& options, const std::string& description) {
  return "complete -c " + program + " -n " + in_quotes(condition) + options +
         (description.empty() ? "" : " -d " + in_quotes(description)) + "\n";
}

std::string fish_option(const CLI::Option& option) {
  const Values values = values_of(option);
  const bool has_files = values.paths == Values::Paths::kFiles;
  std::vector<std::string> words = values.names;
  if (values.paths == Values::Paths::kFolders) words.push_back("(__fish_complete_directories)");
  const std::string suggestions = words.empty() ? "" : " -a " + in_quotes(joined(words));
  if (option.get_positional()) return suggestions + (has_files ? " -F" : "");
  const char* argument = has_files ? " -r -F" : takes_value(option) ? " -x" : "";
  return " -l " + flag_of(option).substr(2) + argument + suggestions;
}

std::string fish_script(const CLI::App& app) {
  const std::string name = app.get_name(), no_command = "__fish_use_subcommand";
  std::string text = "complete -c " + name + " -f\n";
  for (const CLI::Option* flag : flags_of(app))
    text += fish_line(name, no_command, fish_option(*flag), flag->get_description());
  for (const CLI::App* command : commands_of(app)) {
    text += fish_line(name, no_command, " -a " + command->get_name(), command->get_description());
    for (const CLI::Option* option : command->get_options())
      text += fish_line(name, "__fish_seen_subcommand_from " + command->get_name(),
                        fish_option(*option), option->get_description());
  }
  return text;
}

}  // namespace

const std::vector<std::string>& shells() {
  static const std::vector<std::string> names{"bash", "zsh", "fish"};
  return names;
}

std::string completion_script(const CLI::App& app, const std::string& shell) {
  const std::string header = "# Completion of " + app.get_name() + " for " + shell +
                             ", printed by `" + app.get_name() + " completion " + shell + "`.\n";
  if (shell == "bash") return header + bash_script(app);
  if (shell == "fish") return header + fish_script(app);
  return zsh_script(app);  // without header: zsh expects #compdef in the first line
}

}  // namespace hearth::app
