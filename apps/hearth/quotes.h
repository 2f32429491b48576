#pragma once

#include <string>

namespace hearth::app {

/// In single quotes, for any shell.
std::string in_quotes(const std::string& text);

/// A word of a command line: in quotes only if it needs them.
std::string shell_word(const std::string& text);

}  // namespace hearth::app
