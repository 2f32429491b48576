#include "core/plugin.h"

#include <dlfcn.h>

#include <string_view>

#include "core/plugin_file.h"
#include "hearth/error.h"

#ifndef HEARTH_SEAM_HASH
#define HEARTH_SEAM_HASH 0  // a build without CMake
#endif

namespace hearth {

namespace {

constexpr const char* kPluginFile = "libhearth_cuda.so";

/// Turns the loader's message into an error text that names the missing plugin, driver or library.
std::string explain(const PluginFile& plugin, std::string_view message) {
  const std::string_view file = missing_library(message);
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
  const PluginFile file = find_plugin(kPluginFile, "HEARTH_CUDA_PLUGIN");
  std::string message;
  // Without NVIDIA's driver, the plugin would fail only after the loader has relocated cuBLAS,
  // which takes 60 ms.
  if (file.beside && !open_plugin({"libcuda.so.1", ""}, message)) {
    why_not = explain(file, message);
    return nullptr;
  }
  void* const library = open_plugin(file, message);
  if (!library) {
    why_not = explain(file, message);
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
