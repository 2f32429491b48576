#pragma once

#include <string>

namespace hearth::nn::detail {

/// "prefix.name", or the name alone.
inline std::string join_path(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

}  // namespace hearth::nn::detail
