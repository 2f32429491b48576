#include "hearth/demangle.h"

#include <cxxabi.h>

#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <typeindex>
#include <unordered_map>

#include "hearth/libtorch_name.h"

namespace hearth {

std::string demangle(const char* symbol) {
  int status = 0;
  char* readable = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string text = readable ? readable : symbol;
  std::free(readable);
  return text;
}

namespace {

struct ClassNames {
  std::string own, libtorch;
};

/// Writes torch:: for each namespace hearth:: at the beginning of a name.
std::string with_libtorchs_namespace(std::string_view name) {
  constexpr std::string_view kOurs = "hearth::";
  std::string text;
  for (size_t at = name.find(kOurs); at != name.npos; at = name.find(kOurs)) {
    text += name.substr(0, at);
    const char before = text.empty() ? ' ' : text.back();
    const bool is_whole = before != ':' && before != '_' && !std::isalnum(uint8_t(before));
    text += is_whole ? "torch::" : kOurs;
    name.remove_prefix(at + kOurs.size());
  }
  return text.append(name);
}

const ClassNames& names_of(const std::type_info& type) {
  static std::mutex mutex;
  static auto& names = *new std::unordered_map<std::type_index, ClassNames>;  // never destroyed
  const std::lock_guard lock(mutex);
  ClassNames& found = names[type];
  if (found.own.empty()) {
    found.own = demangle(type.name());
    found.libtorch = with_libtorchs_namespace(found.own);
  }
  return found;
}

}  // namespace

const std::string& class_name(const std::type_info& type) { return names_of(type).own; }
const std::string& libtorch_name(const std::type_info& type) { return names_of(type).libtorch; }

std::string short_class_name(const std::type_info& type) {
  const std::string& name = class_name(type);
  return name.substr(name.substr(0, name.find('<')).rfind(':') + 1);
}

}  // namespace hearth
