#pragma once

#include <string>
#include <typeinfo>

#include "hearth/export.h"

namespace hearth {

/// The name of a class as LibTorch has it, which programs compare: hearth:: is written torch::.
/// Cached for the life of the program.
HEARTH_API const std::string& libtorch_name(const std::type_info& type);

}  // namespace hearth
