#include "io/json_depth.h"

#include <algorithm>
#include <cstddef>

namespace hearth::io {

int json_depth(std::string_view text) {
  int depth = 0, max_depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\')
      ++i;
    else if (c == '"')
      in_string = !in_string;
    else if (!in_string && (c == '{' || c == '['))
      max_depth = std::max(max_depth, ++depth);
    else if (!in_string && (c == '}' || c == ']'))
      --depth;
  }
  return max_depth;
}

}  // namespace hearth::io
