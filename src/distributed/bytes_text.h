#pragma once

#include <string>

#include "hearth/distributed/store.h"

namespace hearth::distributed {

inline Store::Bytes to_bytes(const std::string& text) { return {text.begin(), text.end()}; }
inline std::string to_text(const Store::Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace hearth::distributed
