#pragma once

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "c10/util/Exception.h"

namespace c10::utils {

/// The value of an environment variable.
inline std::optional<std::string> get_env(const char* name) noexcept {
  const char* value = std::getenv(name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}
inline bool has_env(const char* name) noexcept { return std::getenv(name); }
/// Whether an environment variable is "1" (false for "0"); warns about other values.
inline std::optional<bool> check_env(const char* name) {
  const auto value = get_env(name);
  if (!value) return std::nullopt;
  if (*value == "0") return false;
  if (*value == "1") return true;
  TORCH_WARN("Ignoring invalid value for boolean flag ", name, ": ", *value,
             "valid values are 0 or 1.");
  return std::nullopt;
}

}  // namespace c10::utils
