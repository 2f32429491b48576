#pragma once

#include <string>

#include "hearth/profiler/events.h"

namespace hearth::profiler {

/// Python's text of a list of lists, which is also JSON's.
inline std::string shapes_text(const Shapes& shapes) {
  std::string text = "[";
  for (const auto& sizes : shapes) {
    text += text.size() > 1 ? ", [" : "[";
    for (size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
    text += ']';
  }
  return text + "]";
}

}  // namespace hearth::profiler
