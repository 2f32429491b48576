#pragma once

#include <string>
#include <vector>

#include "hearth/error.h"

namespace hearth::nn {

/// Returns "7 9" for {7, 9}, as lists are written in LibTorch's error texts.
inline std::string spaced(const std::vector<int64_t>& values) {
  std::string text;
  for (const int64_t value : values) text += (text.empty() ? "" : " ") + std::to_string(value);
  return text;
}

}  // namespace hearth::nn
