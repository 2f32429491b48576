#include "core/plugin_file.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

#include "hearth/error.h"

namespace hearth {

namespace {

/// The folder of the library (or program) that holds this code, with a slash; empty if unknown.
std::string own_folder() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<void*>(&find_plugin), &info) || !info.dli_fname) return "";
  const std::string_view path = info.dli_fname;
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? "" : std::string(path.substr(0, slash + 1));
}

}  // namespace

PluginFile find_plugin(const char* file, const char* variable) {
  if (const char* const wanted = std::getenv(variable); wanted && *wanted)
    return {wanted, detail::str(wanted, ", which ", variable, " names,")};
  const std::string folder = own_folder();
  const std::string beside = folder + file;
  if (!folder.empty() && access(beside.c_str(), F_OK) == 0) return {beside, beside, true};
  const std::string places = folder.empty() ? "" : "in " + folder + " and ";
  return {file, detail::str(file, " (searched ", places, "among the system's libraries)")};
}

std::string_view missing_library(std::string_view message) {
  const auto missing = message.find(": cannot open shared object file");
  return message.substr(0, missing == std::string_view::npos ? 0 : missing);
}

void* open_plugin(const PluginFile& file, std::string& message) {
  void* const library = dlopen(file.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* const text = dlerror();
    message = text ? text : "";
  }
  return library;
}

}  // namespace hearth
