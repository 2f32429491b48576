#include <dlfcn.h>

#include "core/plugin_file.h"
#include "distributed/backend.h"
#include "hearth/distributed/init.h"

namespace hearth::distributed {

namespace {

/// The plugin's entry point, or the reason why it is missing.
struct GlooPlugin {
  GlooEntry entry = nullptr;
  std::string why_not;
};

GlooPlugin load_gloo() {
  const PluginFile file = find_plugin("libhearth_gloo.so", "HEARTH_GLOO_PLUGIN");
  std::string message;
  void* const library = open_plugin(file, message);
  if (!library) {
    const std::string missing(missing_library(message));
    if (missing == file.path)
      return {nullptr, detail::str("Hearth's Gloo plugin ", file.description,
                                   " was not found; install libgloo-dev and build Hearth again.")};
    if (!missing.empty())
      return {nullptr, detail::str("Hearth's Gloo plugin ", file.path, " needs the library ",
                                   missing, ", which is missing.")};
    return {nullptr,
            detail::str("Hearth's Gloo plugin ", file.path, " could not be loaded: ", message)};
  }
  const auto entry = reinterpret_cast<GlooEntry>(dlsym(library, kGlooSymbol));
  if (!entry)
    return {nullptr,
            detail::str(file.path, " is not a Gloo plugin of Hearth: it has no ", kGlooSymbol)};
  return {entry, ""};
}

const GlooPlugin& gloo_plugin() {
  static const GlooPlugin plugin = load_gloo();
  return plugin;
}

}  // namespace

std::unique_ptr<Backend> create_backend(const std::string& name, const BackendOptions& options) {
  HEARTH_CHECK_AS(ValueError, name == "gloo", "the backend '", name,
                  "' is unknown: this build of Hearth has gloo");
  const GlooPlugin& plugin = gloo_plugin();
  HEARTH_CHECK_AS(DistBackendError, plugin.entry, plugin.why_not);
  std::unique_ptr<Backend> backend(plugin.entry(kBackendVersion, &options));
  HEARTH_CHECK_AS(DistBackendError, backend,
                  "Hearth's Gloo plugin was built for another version of Hearth.");
  return backend;
}

bool is_available() { return true; }
bool is_gloo_available() { return gloo_plugin().entry != nullptr; }
std::string why_no_gloo() { return gloo_plugin().why_not; }

}  // namespace hearth::distributed
