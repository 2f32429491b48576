#include "kernels/sim/config.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>

#include "core/modes.h"
#include "hearth/error.h"

namespace hearth::sim {

namespace {

std::string_view environment(const char* variable) {
  const char* const text = std::getenv(variable);
  return text ? text : "";
}

/// Returns the binary logarithm of a unit's bytes; -1 for an unknown unit.
int shift_of(std::string_view unit) {
  if (unit.empty() || unit == "B") return 0;
  if (unit == "KiB") return 10;
  if (unit == "MiB") return 20;
  if (unit == "GiB") return 30;
  if (unit == "TiB") return 40;
  return -1;
}

int parse_devices(std::string_view text) {
  int devices = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), devices);
  const bool is_valid = error == std::errc() && end == text.data() + text.size() && devices >= 0 &&
                        devices <= kMaxGpus;
  HEARTH_CHECK(is_valid, "HEARTH_SIM_GPUS must be a number from 0 to ", kMaxGpus,
               " (or unset), not '", text, "'");
  return devices;
}

bool parse_switch(std::string_view variable, std::string_view text) {
  HEARTH_CHECK(text.empty() || text == "0" || text == "1", variable, " must be 0 or 1, not '", text,
               "'");
  return text == "1";
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

Config config_from_environment() {
  Config config;
  const auto devices = environment("HEARTH_SIM_GPUS");
  if (devices.empty()) return config;
  config.devices = parse_devices(devices);
  constexpr const char* kMemory = "HEARTH_SIM_GPU_MEMORY";
  if (const auto memory = environment(kMemory); !memory.empty())
    config.memory = parse_bytes(kMemory, memory);
  config.lazy = parse_switch("HEARTH_SIM_LAZY", environment("HEARTH_SIM_LAZY"));
  return config;
}

}  // namespace hearth::sim
