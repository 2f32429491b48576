#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace hearth::data {

/// Lets a map with std::string keys find a std::string_view.
struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
template <class T>
using StringMap = std::unordered_map<std::string, T, StringHash, std::equal_to<>>;

}  // namespace hearth::data
