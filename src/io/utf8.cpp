#include "io/utf8.h"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace hearth::io {

bool is_utf8(std::string_view text) {
  constexpr uint32_t kMinCodePoint[] = {0, 0, 0x80, 0x800, 0x10000};  // by number of bytes
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<uint8_t>(text[i++]);
    if (first < 0x80) continue;
    const int bytes = std::countl_one(first);
    if (bytes < 2 || bytes > 4 || text.size() - i < size_t(bytes - 1)) return false;
    uint32_t code_point = first & (0x7fu >> bytes);
    for (int k = 1; k < bytes; ++k) {
      const auto next = static_cast<uint8_t>(text[i++]);
      if (next >> 6 != 2) return false;  // it does not continue a character
      code_point = code_point << 6 | (next & 0x3fu);
    }
    const bool is_surrogate = code_point >> 11 == 0x1b;  // 0xd800 to 0xdfff
    if (code_point < kMinCodePoint[bytes] || code_point > 0x10ffff || is_surrogate) return false;
  }
  return true;
}

}  // namespace hearth::io
