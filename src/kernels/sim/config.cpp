#include "kernels/sim/config.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>

#include "core/byte_size.h"
#include "core/modes.h"
#include "hearth/error.h"

namespace hearth::sim {

namespace {

std::string_view environment(const char* variable) {
  const char* const text = std::getenv(variable);
  return text ? text : "";
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
