#pragma once

#include <string>

namespace hearth::app {

/// The text in single quotes, for sh, bash and zsh, and for fish if it has no backslash.
std::string in_quotes(const std::string& text);

/// The text as one word of a command line, in quotes only if it needs them.
std::string shell_word(const std::string& text);

}  // namespace hearth::app
