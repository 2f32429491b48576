#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hearth::app {

/// The table's entry with this name, or null.
template <class Entry, size_t count>
const Entry* find_named(const Entry (&table)[count], const std::string& name) {
  for (const Entry& entry : table)
    if (entry.name == name) return &entry;
  return nullptr;
}

template <class Entry, size_t count>
std::vector<std::string> names_in(const Entry (&table)[count]) {
  std::vector<std::string> names;
  for (const Entry& entry : table) names.emplace_back(entry.name);
  return names;
}

/// The first known name with the prefix `name`, else the known name with the smallest edit
/// distance; empty if no name is similar.
std::string nearest(const std::string& name, const std::vector<std::string>& known);

/// "unknown model 'lenets'; did you mean 'lenet'? (known: mlp, …)"
std::string unknown_name(const std::string& kind, const std::string& name,
                         const std::vector<std::string>& known);

/// "1 rank", "2 ranks".
std::string counted(int64_t count, const std::string& noun);

/// Replaces control characters by escapes such as "\\x1b", so that they cannot control a terminal.
std::string printable(const std::string& text);
/// As printable(), but keeps line breaks and tabs.
std::string printable_lines(const std::string& text);

bool is_utf8(const std::string& text);

}  // namespace hearth::app
