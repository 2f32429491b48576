#include "names.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>

namespace hearth::app {

namespace {

/// The Levenshtein distance.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

/// Escapes the control characters that are not in `kept`.
std::string escaped(const std::string& text, std::string_view kept) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string shown;
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if ((code >= 0x20 && code != 0x7f) || kept.find(character) != std::string_view::npos)
      shown += character;
    else
      shown.append("\\x").append(1, kDigits[code >> 4]).append(1, kDigits[code & 15]);
  }
  return shown;
}

}  // namespace

std::string counted(int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string nearest(const std::string& name, const std::vector<std::string>& known) {
  for (const std::string& candidate : known)
    if (!name.empty() && candidate.starts_with(name)) return candidate;
  std::string best;
  size_t fewest = std::max<size_t>(2, name.size() / 2) + 1;
  for (const std::string& candidate : known)
    if (const size_t edits = edit_distance(name, candidate); edits < fewest) {
      fewest = edits;
      best = candidate;
    }
  return best;
}

std::string unknown_name(const std::string& kind, const std::string& name,
                         const std::vector<std::string>& known) {
  std::string text = "unknown " + kind + " '" + printable(name) + "'";
  if (const std::string guess = nearest(name, known); !guess.empty())
    text += "; did you mean '" + guess + "'?";
  text += " (known: ";
  for (size_t i = 0; i < known.size(); ++i) text += (i ? ", " : "") + known[i];
  return text + ")";
}

std::string printable(const std::string& text) { return escaped(text, ""); }
std::string printable_lines(const std::string& text) { return escaped(text, "\n\t"); }

bool is_utf8(const std::string& text) {
  using Json = nlohmann::json;
  const Json json(text);
  // Only invalid bytes make a difference: one call replaces them, the other drops them.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) ==
         json.dump(-1, ' ', false, Json::error_handler_t::ignore);
}

}  // namespace hearth::app
