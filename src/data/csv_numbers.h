#pragma once

#include <cstdint>
#include <string_view>

namespace hearth::data {

/// Whether a field was a number.
enum class Parsed { kYes, kNotANumber, kOutOfRange };

/// Reads all of the field, without blanks around it: decimal numbers as in Python, inf and nan.
/// Numbers too close to 0 become 0.
Parsed parse_number(std::string_view field, double& value);
Parsed parse_integer(std::string_view field, int64_t& value);

}  // namespace hearth::data
