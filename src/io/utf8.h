#pragma once

#include <string_view>

namespace hearth::io {

/// Whether the text is valid UTF-8.
bool is_utf8(std::string_view text);

}  // namespace hearth::io
