#include "profiler/string_json.h"

#include <nlohmann/json.hpp>

namespace hearth::profiler {

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace hearth::profiler
