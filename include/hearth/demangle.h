#pragma once

#include <string>

#include "hearth/export.h"

namespace hearth {

/// A C++ symbol, or the name of a std::type_info, as a person reads it.
HEARTH_API std::string demangle(const char* symbol);

}  // namespace hearth
