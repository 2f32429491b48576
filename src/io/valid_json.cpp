#include "io/valid_json.h"

#include <nlohmann/json.hpp>

namespace hearth::io {

bool is_json(std::string_view text) { return nlohmann::json::accept(text); }

}  // namespace hearth::io
