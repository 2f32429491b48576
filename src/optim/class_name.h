#pragma once

#include <string>
#include <typeinfo>

#include "hearth/demangle.h"

namespace hearth::optim {

/// An object's class without its namespace: "Adam".
template <class Object>
std::string class_name(const Object& object) {
  std::string name = demangle(typeid(object).name());
  return name.erase(0, name.substr(0, name.find('<')).rfind(':') + 1);
}

}  // namespace hearth::optim
