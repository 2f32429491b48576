#include <algorithm>
#include <bit>

#include "hearth/data/text.h"
#include "io/utf8.h"

namespace hearth::data {

Tokenizer::~Tokenizer() = default;

std::vector<std::string> Tokenizer::operator()(std::string_view text) const {
  std::vector<std::string> tokens;
  split(text, [&](std::string_view token) { tokens.emplace_back(token); });
  return tokens;
}

namespace tokenizers {

namespace {

/// Whether an ASCII character is white space in Python.
bool is_space(char character) {
  return character == ' ' || (character >= '\t' && character <= '\r') ||
         (character >= 0x1c && character <= 0x1f);
}

/// The number of bytes of the text's first UTF-8 character; 1 if it is invalid.
size_t length_of_character(std::string_view text) {
  const int bytes = std::countl_one(static_cast<uint8_t>(text[0]));
  if (bytes < 2 || bytes > 4 || text.size() < size_t(bytes)) return 1;
  return io::is_utf8(text.substr(0, size_t(bytes))) ? size_t(bytes) : 1;
}

/// The text with ASCII letters in lower case, without double quotes, with spaces around each
/// character of kSeparated, and with a space in place of each semicolon, colon and <br />.
std::string normalized(std::string_view text) {
  constexpr std::string_view kSeparated = "'.,()!?", kBreak = "<br />";
  std::string lower;
  lower.reserve(text.size());
  for (const char character : text)
    if (character != '"')
      lower += character >= 'A' && character <= 'Z' ? char(character - 'A' + 'a') : character;
  std::string spaced;
  spaced.reserve(lower.size() + lower.size() / 8);
  for (size_t i = 0; i < lower.size(); ++i) {
    const char character = lower[i];
    if (kSeparated.find(character) != std::string_view::npos) {
      (spaced += ' ') += character;
      spaced += ' ';
    } else if (character == ';' || character == ':') {
      spaced += ' ';
    } else if (lower.compare(i, kBreak.size(), kBreak) == 0) {
      spaced += ' ';
      i += kBreak.size() - 1;
    } else {
      spaced += character;
    }
  }
  return spaced;
}

}  // namespace

void Whitespace::split(std::string_view text, const Sink& sink) const {
  for (auto end = text.begin();;) {
    const auto begin = std::find_if_not(end, text.end(), is_space);
    if (begin == text.end()) return;
    end = std::find_if(begin, text.end(), is_space);
    sink({begin, end});
  }
}

void BasicEnglish::split(std::string_view text, const Sink& sink) const {
  Whitespace().split(normalized(text), sink);
}

void Characters::split(std::string_view text, const Sink& sink) const {
  while (!text.empty()) {
    const size_t length = length_of_character(text);
    sink(text.substr(0, length));
    text.remove_prefix(length);
  }
}

void Bytes::split(std::string_view text, const Sink& sink) const {
  for (size_t i = 0; i < text.size(); ++i) sink(text.substr(i, 1));
}

}  // namespace tokenizers
}  // namespace hearth::data
