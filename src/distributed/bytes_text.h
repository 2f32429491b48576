#pragma once

#include <string>

#include "hearth/distributed/store.h"

namespace hearth::distributed {

// The pointers have the element type of the result, so that all bytes are copied at once.

inline Store::Bytes to_bytes(const std::string& text) {
  const auto* const begin = reinterpret_cast<const uint8_t*>(text.data());
  return {begin, begin + text.size()};
}
inline std::string to_text(const Store::Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace hearth::distributed
