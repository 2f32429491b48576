#pragma once

#include <cstddef>
#include <string_view>

namespace hearth {

/// Parses "8GiB", "512 MiB", "64KiB" or a number of bytes; throws an Error that names `variable`
/// for other texts.
size_t parse_bytes(std::string_view variable, std::string_view text);

}  // namespace hearth
