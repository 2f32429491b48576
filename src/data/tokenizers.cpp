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

/// ASCII's white space in Python.
bool is_space(char letter) {
  return letter == ' ' || (letter >= '\t' && letter <= '\r') || (letter >= 0x1c && letter <= 0x1f);
}

/// The length of the character of UTF-8 at the text's beginning; 1 if it is invalid.
size_t length_of_character(std::string_view text) {
  const int bytes = std::countl_one(static_cast<uint8_t>(text[0]));
  if (bytes < 2 || bytes > 4 || text.size() < size_t(bytes)) return 1;
  return io::is_utf8(text.substr(0, size_t(bytes))) ? size_t(bytes) : 1;
}

/// The text in lower case, without quotation marks and with spaces around punctuation.
std::string normalized(std::string_view text) {
  constexpr std::string_view kApart = "'.,()!?", kBreak = "<br />";
  std::string plain;
  plain.reserve(text.size());
  for (const char letter : text)
    if (letter != '"') plain += letter >= 'A' && letter <= 'Z' ? char(letter + 32) : letter;
  std::string spaced;
  spaced.reserve(plain.size() + plain.size() / 8);
  for (size_t i = 0; i < plain.size(); ++i) {
    const char letter = plain[i];
    if (kApart.find(letter) != std::string_view::npos) {
      (spaced += ' ') += letter;
      spaced += ' ';
    } else if (letter == ';' || letter == ':') {
      spaced += ' ';
    } else if (plain.compare(i, kBreak.size(), kBreak) == 0) {
      spaced += ' ';
      i += kBreak.size() - 1;
    } else {
      spaced += letter;
    }
  }
  return spaced;
}

}  // namespace

void Whitespace::split(std::string_view text, const Sink& sink) const {
  for (auto at = text.begin();;) {
    const auto begin = std::find_if_not(at, text.end(), is_space);
    if (begin == text.end()) return;
    at = std::find_if(begin, text.end(), is_space);
    sink({begin, at});
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
