#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hearth::app {

/// The entry of a table that has the name; null if none has.
template <class Entry, size_t count>
const Entry* named(const Entry (&table)[count], const std::string& name) {
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

/// The known name that begins so, or takes the fewest edits to get to; empty if none is near.
std::string nearest(const std::string& name, const std::vector<std::string>& known);

/// "unknown model 'seed-cn'; did you mean 'seed-cnn'? (known: mlp, …)"
std::string unknown_name(const std::string& kind, const std::string& name,
                         const std::vector<std::string>& known);

/// With control characters as in "\\x1b", so that a terminal does nothing but show it.
std::string printable(const std::string& text);

bool is_utf8(const std::string& text);

}  // namespace hearth::app
