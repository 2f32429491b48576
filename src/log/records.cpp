#include "log/records.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace hearth::utils::tensorboard::detail {

namespace {

constexpr std::array<uint32_t, 256> make_crc_table() {
  constexpr uint32_t kPolynomial = 0x82f63b78;  // Castagnoli's, reflected
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ kPolynomial : crc >> 1;
    table[byte] = crc;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kCrcTable = make_crc_table();

/// The format stores checksums in this form.
uint32_t masked_crc(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xa282ead8u; }

template <class T>
void append_raw(std::string& out, T value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  out.append(raw, sizeof value);
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = ~uint32_t{0};
  for (const char c : bytes) crc = crc >> 8 ^ kCrcTable[(crc ^ static_cast<uint8_t>(c)) & 0xff];
  return ~crc;
}

void append_record(std::string& out, std::string_view payload) {
  const size_t begin = out.size();
  append_raw(out, static_cast<uint64_t>(payload.size()));
  append_raw(out, masked_crc(std::string_view(out).substr(begin)));
  out += payload;
  append_raw(out, masked_crc(payload));
}

}  // namespace hearth::utils::tensorboard::detail
