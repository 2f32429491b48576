#pragma once

#include <string>

#include "hearth/profiler/events.h"

namespace hearth::profiler {

/// The shapes as a list of lists, in a syntax that Python and JSON share.
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
