#pragma once

#include <CLI/CLI.hpp>
#include <iosfwd>

namespace hearth::app {

inline constexpr int kUsageError = 2;  // the exit code of errors in the command line

/// CLI11's help, with the names, choices and defaults of values.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

/// An error in the command line that is found after parsing it; like those of CLI11, it ends the
/// program with exit code 2.
struct UsageError : CLI::ParseError {
  explicit UsageError(const std::string& text)
      : ParseError("UsageError", text, CLI::ExitCodes::ValidationError) {}
};

/// Prints the requested help or version, or explains the error on stderr. Returns the exit code; a
/// command chooses its own by throwing CLI::RuntimeError.
int finish_parsing(const CLI::App& app, const CLI::ParseError& error);

}  // namespace hearth::app
