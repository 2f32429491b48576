#include "quotes.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace hearth::app {

std::string in_quotes(const std::string& text) {
  std::string quoted = "'";
  for (const char character : text)
    if (character == '\'')
      quoted += "'\\''";
    else
      quoted += character;
  return quoted + "'";
}

std::string shell_word(const std::string& text) {
  const auto is_plain = [](char character) {
    return std::isalnum(static_cast<unsigned char>(character)) ||
           std::strchr("_-+=./,:@%", character);
  };
  const bool is_word = !text.empty() && std::all_of(text.begin(), text.end(), is_plain);
  return is_word ? text : in_quotes(text);
}

}  // namespace hearth::app
