#pragma once

#include <string_view>

namespace hearth::io {

/// The nesting depth of objects and arrays in a JSON text, to be checked before a parser recurses.
int json_depth(std::string_view text);

}  // namespace hearth::io
