#include "core/byte_size.h"

#include <charconv>
#include <cstdint>

#include "hearth/error.h"

namespace hearth {

namespace {

/// Returns the binary logarithm of a unit's bytes; -1 for an unknown unit.
int shift_of(std::string_view unit) {
  if (unit.empty() || unit == "B") return 0;
  if (unit == "KiB") return 10;
  if (unit == "MiB") return 20;
  if (unit == "GiB") return 30;
  if (unit == "TiB") return 40;
  return -1;
}

}  // namespace

size_t parse_bytes(std::string_view variable, std::string_view text) {
  const char* const text_end = text.data() + text.size();
  size_t count = 0;
  auto [end, error] = std::from_chars(text.data(), text_end, count);
  while (end != text_end && *end == ' ') ++end;
  const int shift =
      error == std::errc() ? shift_of({end, static_cast<size_t>(text_end - end)}) : -1;
  const bool is_valid = shift >= 0 && count > 0 && count <= (SIZE_MAX >> shift);
  HEARTH_CHECK(is_valid, variable,
               " must be a size such as 8GiB, 512MiB or a number of bytes, not '", text, "'");
  return count << shift;
}

}  // namespace hearth
