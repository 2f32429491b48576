#include "quotes.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace hearth::app {

std::string in_quotes(const std::string& text) {
  std::string quoted = "'";
  for (const char letter : text)
    if (letter == '\'')
      quoted += "'\\''";
    else
      quoted += letter;
  return quoted + "'";
}

std::string shell_word(const std::string& text) {
  const auto is_plain = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) || std::strchr("_-+=./,:@%", letter);
  };
  const bool is_word = !text.empty() && std::all_of(text.begin(), text.end(), is_plain);
  return is_word ? text : in_quotes(text);
}

}  // namespace hearth::app
