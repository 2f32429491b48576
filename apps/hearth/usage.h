#pragma once

#include <CLI/CLI.hpp>
#include <iosfwd>

namespace hearth::app {

/// CLI11's help, with the names, choices and defaults of values.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

/// Prints the requested help or version, or explains the error on stderr. Returns the exit code; a
/// command chooses its own by throwing CLI::RuntimeError.
int finish_parsing(const CLI::App& app, const CLI::ParseError& error);

}  // namespace hearth::app
