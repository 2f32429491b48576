#pragma once

#include <string>

#include "hearth/export.h"

namespace hearth {

/// The readable form of a C++ symbol or of a std::type_info's name.
HEARTH_API std::string demangle(const char* symbol);

}  // namespace hearth
