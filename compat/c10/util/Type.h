#pragma once

#include <string>
#include <typeinfo>

#include "c10/namespaces.h"
#include "hearth/demangle.h"

namespace c10 {

/// The readable name of a type.
template <class T>
const char* demangle_type() {
  static const std::string& name = hearth::class_name(typeid(T));
  return name.c_str();
}

}  // namespace c10
