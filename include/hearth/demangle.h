#pragma once

#include <string>
#include <typeinfo>

#include "hearth/export.h"

namespace hearth {

/// The readable form of a C++ symbol or of a std::type_info's name.
HEARTH_API std::string demangle(const char* symbol);
/// The name of a class, such as "hearth::nn::LinearImpl", cached for the life of the program.
HEARTH_API const std::string& class_name(const std::type_info& type);
/// The name without its namespaces: "LinearImpl".
HEARTH_API std::string short_class_name(const std::type_info& type);

}  // namespace hearth
