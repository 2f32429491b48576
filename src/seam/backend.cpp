#include "seam/backend.h"

#include <cstdio>

namespace hearth {

std::string format_bytes(size_t bytes) {
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB"};
  if (bytes <= 1024) return detail::str(bytes, " bytes");
  size_t unit = 0;
  double amount = static_cast<double>(bytes) / 1024;
  for (; amount > 1024 && unit < 2; ++unit) amount /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %s", amount, kUnits[unit]);
  return text;
}

}  // namespace hearth
