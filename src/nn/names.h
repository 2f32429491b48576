#pragma once

#include <string>

namespace hearth::nn::detail {

/// Returns "prefix.name", or the name alone if the prefix is empty.
inline std::string join_path(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

}  // namespace hearth::nn::detail
