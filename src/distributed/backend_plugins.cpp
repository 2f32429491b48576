#include <dlfcn.h>

#include "core/plugin_file.h"
#include "distributed/backend.h"
#include "hearth/distributed/init.h"

namespace hearth::distributed {

namespace {

/// A backend that a plugin contains.
struct PluginKind {
  const char *backend, *engine, *file, *variable, *remedy;
};
constexpr PluginKind kGloo{"gloo", "Gloo", "libhearth_gloo.so", "HEARTH_GLOO_PLUGIN",
                           "install libgloo-dev and build Hearth again"};
constexpr PluginKind kNccl{"nccl", "NCCL", "libhearth_nccl.so", "HEARTH_NCCL_PLUGIN",
                           "build Hearth with a CUDA toolkit and the header nccl.h"};

/// A plugin's entry point, or the reason why the backend cannot be used.
struct Plugin {
  BackendEntry entry = nullptr;
  std::string why_not;
};

std::string why_not_opened(const PluginKind& kind, const PluginFile& file,
                           const std::string& message) {
  const std::string_view missing = missing_library(message);
  if (missing == file.path)
    return detail::str("Hearth's ", kind.engine, " plugin ", file.description, " was not found; ",
                       kind.remedy, ".");
  if (!missing.empty())
    return detail::str("Hearth's ", kind.engine, " plugin ", file.path, " needs the library ",
                       missing, ", which is missing.");
  return detail::str("Hearth's ", kind.engine, " plugin ", file.path,
                     " could not be loaded: ", message);
}

Plugin load(const PluginKind& kind) {
  const PluginFile file = find_plugin(kind.file, kind.variable);
  std::string message;
  void* const library = open_plugin(file, message);
  if (!library) return {nullptr, why_not_opened(kind, file, message)};
  const std::string symbol = detail::str("hearth_", kind.backend, "_backend");
  Plugin plugin;
  plugin.entry = reinterpret_cast<BackendEntry>(dlsym(library, symbol.c_str()));
  if (!plugin.entry)
    plugin.why_not =
        detail::str(file.path, " is not a ", kind.engine, " plugin of Hearth: it has no ", symbol);
  // A plugin that opens its engine itself has a second function, which says why it cannot.
  const std::string problem = detail::str("hearth_", kind.backend, "_problem");
  using Problem = const char* (*)();
  if (const auto problem_of = reinterpret_cast<Problem>(dlsym(library, problem.c_str())))
    plugin.why_not += problem_of();
  return plugin;
}

const Plugin& gloo_plugin() {
  static const Plugin plugin = load(kGloo);
  return plugin;
}
const Plugin& nccl_plugin() {
  static const Plugin plugin = load(kNccl);
  return plugin;
}

}  // namespace

std::unique_ptr<Backend> create_backend(const std::string& name, const BackendOptions& options) {
  HEARTH_CHECK_AS(ValueError, name == kGloo.backend || name == kNccl.backend, "the backend '", name,
                  "' is unknown: Hearth has gloo and nccl");
  const PluginKind& kind = name == kGloo.backend ? kGloo : kNccl;
  const Plugin& plugin = name == kGloo.backend ? gloo_plugin() : nccl_plugin();
  HEARTH_CHECK_AS(DistBackendError, plugin.why_not.empty(), plugin.why_not);
  std::unique_ptr<Backend> backend(plugin.entry(kBackendVersion, &options));
  HEARTH_CHECK_AS(DistBackendError, backend, "Hearth's ", kind.engine,
                  " plugin was built for another version of Hearth.");
  return backend;
}

bool is_available() { return true; }
bool is_gloo_available() { return why_no_gloo().empty(); }
std::string why_no_gloo() { return gloo_plugin().why_not; }
bool is_nccl_available() { return why_no_nccl().empty(); }
std::string why_no_nccl() { return nccl_plugin().why_not; }

}  // namespace hearth::distributed
