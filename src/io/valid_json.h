#pragma once

#include <string_view>

namespace hearth::io {

/// Whether the text is one JSON value.
bool is_json(std::string_view text);

}  // namespace hearth::io
