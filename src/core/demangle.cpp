#include "hearth/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <mutex>
#include <typeindex>
#include <unordered_map>

namespace hearth {

std::string demangle(const char* symbol) {
  int status = 0;
  char* readable = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string text = readable ? readable : symbol;
  std::free(readable);
  return text;
}

const std::string& class_name(const std::type_info& type) {
  static std::mutex mutex;
  static auto& names = *new std::unordered_map<std::type_index, std::string>;  // never destroyed
  const std::lock_guard lock(mutex);
  std::string& name = names[type];
  if (name.empty()) name = demangle(type.name());
  return name;
}

std::string short_class_name(const std::type_info& type) {
  const std::string& name = class_name(type);
  return name.substr(name.substr(0, name.find('<')).rfind(':') + 1);
}

}  // namespace hearth
