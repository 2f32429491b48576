#pragma once

#include <string>
#include <string_view>

namespace hearth::profiler {

/// A text as a string in JSON, with its quotes; bytes that are not UTF-8 are replaced.
std::string json_string(std::string_view text);

}  // namespace hearth::profiler
