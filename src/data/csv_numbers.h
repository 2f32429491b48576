#pragma once

#include <cstdint>
#include <string_view>

namespace hearth::data {

/// Whether a field was a number.
enum class Parsed { kYes, kNotANumber, kOutOfRange };

/// Parses the whole field, except blanks around it: a decimal number such as "-1.5e3", inf or nan.
/// Numbers too close to 0 become 0.
Parsed parse_number(std::string_view field, double& value);
/// The same for a decimal integer.
Parsed parse_integer(std::string_view field, int64_t& value);

}  // namespace hearth::data
