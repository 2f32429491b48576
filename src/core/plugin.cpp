#include "core/plugin.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "hearth/error.h"

#ifndef HEARTH_SEAM_HASH
#define HEARTH_SEAM_HASH 0  // a build without CMake
#endif

namespace hearth {

namespace {

constexpr const char* kPluginFile = "libhearth_cuda.so";

/// The folder of the library (or program) that holds this code, with a slash; empty if unknown.
std::string own_folder() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<void*>(&load_cuda_plugin), &info) || !info.dli_fname) return "";
  const std::string_view path = info.dli_fname;
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? "" : std::string(path.substr(0, slash + 1));
}

/// The plugin file to open, and its description in error texts.
struct PluginFile {
  std::string path;
  std::string description;
};

PluginFile find_plugin() {
  if (const char* const wanted = std::getenv("HEARTH_CUDA_PLUGIN"); wanted && *wanted)
    return {wanted, detail::str(wanted, ", which HEARTH_CUDA_PLUGIN names,")};
  const std::string folder = own_folder();
  const std::string beside = folder + kPluginFile;
  if (!folder.empty() && access(beside.c_str(), F_OK) == 0) return {beside, beside};
  return {kPluginFile,
          detail::str(kPluginFile, " (searched in ", folder, " and among the system's libraries)")};
}

/// Turns the loader's message into an error text that names the missing plugin, driver or library.
std::string explain(const PluginFile& plugin, std::string_view message) {
  constexpr std::string_view kMissing = ": cannot open shared object file";
  const auto missing = message.find(kMissing);
  const auto file = message.substr(0, missing == std::string_view::npos ? 0 : missing);
  if (file == plugin.path)
    return detail::str("Hearth's CUDA plugin ", plugin.description, " was not found.");
  if (file.starts_with("libcuda.so"))
    return detail::str("Found no NVIDIA driver on your system: ", file,
                       " is missing. Please check "
                       "that you have an NVIDIA GPU and installed a driver.");
  if (!file.empty())
    return detail::str("Hearth's CUDA plugin ", plugin.path, " needs the library ", file,
                       ", which is missing.");
  return detail::str("Hearth's CUDA plugin ", plugin.path, " could not be loaded: ", message);
}

}  // namespace

Backend* load_cuda_plugin(std::string& why_not) {
  const PluginFile file = find_plugin();
  void* const library = dlopen(file.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* const message = dlerror();
    why_not = explain(file, message ? message : "");
    return nullptr;
  }
  const auto entry = reinterpret_cast<PluginEntry>(dlsym(library, kPluginSymbol));
  if (!entry) {
    why_not = detail::str(file.path, " is not a CUDA plugin of Hearth: it has no ", kPluginSymbol);
    dlclose(library);
    return nullptr;
  }
  Backend* const backend = entry(HEARTH_SEAM_HASH, &why_not);
  if (!backend && why_not.empty())
    why_not = detail::str("Hearth's CUDA plugin ", file.path, " failed without giving a reason.");
  return backend;
}

}  // namespace hearth
