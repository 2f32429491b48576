#pragma once

#include <CLI/CLI.hpp>
#include <iosfwd>

namespace hearth::app {

/// CLI11's help with values, choices and defaults in words.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

/// Prints the help or version that was asked for, or on stderr what is wrong with the command
/// line; the exit code. A CLI::RuntimeError is a command's own exit code.
int finish_parsing(const CLI::App& app, const CLI::ParseError& error);

}  // namespace hearth::app
