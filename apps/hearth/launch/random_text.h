#pragma once

#include <string>

namespace hearth::app {

/// 128 random bits, as hexadecimal digits.
std::string random_text();

}  // namespace hearth::app
