#pragma once

#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "c10/namespaces.h"
#include "hearth/stream.h"

// LibTorch's headers let programs print standard containers. Argument-dependent lookup finds the
// operators only in the containers' namespace, std.
namespace std {

template <class First, class Second>
ostream& operator<<(ostream& out, const pair<First, Second>& value);

#define HEARTH_STREAM_CONTAINER(container)                                           \
  template <class... Types>                                                          \
  ostream& operator<<(ostream& out, const container<Types...>& elements) {           \
    for (auto position = elements.begin(); position != elements.end(); ++position) { \
      if (position != elements.begin()) out << ' ';                                  \
      out << *position;                                                              \
    }                                                                                \
    return out;                                                                      \
  }
HEARTH_STREAM_CONTAINER(vector)
HEARTH_STREAM_CONTAINER(map)
HEARTH_STREAM_CONTAINER(set)
#undef HEARTH_STREAM_CONTAINER

template <class First, class Second>
ostream& operator<<(ostream& out, const pair<First, Second>& value) {
  return out << '(' << value.first << ", " << value.second << ')';
}

}  // namespace std

namespace c10 {

/// Concatenates the arguments as a stream prints them.
template <class... Parts>
std::string str(const Parts&... parts) {
  std::ostringstream out;
  ((out << parts), ...);
  return out.str();
}

/// Concatenates the container's elements with the delimiter between them.
template <class Container>
std::string Join(const std::string& delimiter, const Container& container) {
  std::ostringstream out;
  bool first = true;
  for (const auto& element : container) {
    if (!first) out << delimiter;
    first = false;
    out << element;
  }
  return out.str();
}

/// Replaces all occurrences of `from` in `text`; returns their number.
inline size_t ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  size_t count = 0;
  for (size_t at = 0; !from.empty() && (at = text.find(from, at)) != std::string::npos; ++count) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return count;
}

namespace detail {
/// The path without its folders, or the file name without its ending.
inline std::string StripBasename(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}
inline std::string ExcludeFileExtension(const std::string& file) {
  const size_t dot = file.find_last_of('.');
  return dot == 0 || dot == std::string::npos ? file : file.substr(0, dot);
}
}  // namespace detail

}  // namespace c10

namespace at {
using c10::Join;
using c10::str;
}  // namespace at
namespace torch {
using c10::Join;
using c10::str;
}  // namespace torch
