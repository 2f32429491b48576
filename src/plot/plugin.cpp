#include "plot/plugin.h"

#include <dlfcn.h>

#include "core/plugin_file.h"
#include "hearth/error.h"
#include "hearth/io/file.h"
#include "hearth/vision/image.h"

#ifndef HEARTH_PLOT_HASH
#define HEARTH_PLOT_HASH 0  // a build without CMake
#endif

namespace hearth::utils::plot {

namespace {

using hearth::detail::str;

/// The plugin's entry point, or the reason why there is none.
struct Plugin {
  detail::PlotEntry draw = nullptr;
  std::string why_not;
};

std::string why_not_opened(const PluginFile& file, const std::string& message) {
  const std::string_view missing = missing_library(message);
  if (missing == file.path)
    return str("Hearth's plot plugin ", file.description,
               " was not found; install libcairo2-dev and build Hearth again.");
  if (!missing.empty())
    return str("Hearth's plot plugin ", file.path, " needs the library ", missing,
               ", which is missing.");
  return str("Hearth's plot plugin ", file.path, " could not be loaded: ", message);
}

Plugin load() {
  const PluginFile file = find_plugin("libhearth_plot.so", "HEARTH_PLOT_PLUGIN");
  std::string message;
  void* const library = open_plugin(file, message);
  if (!library) return {nullptr, why_not_opened(file, message)};
  const auto draw = reinterpret_cast<detail::PlotEntry>(dlsym(library, detail::kPlotSymbol));
  if (!draw)
    return {nullptr,
            str(file.path, " is not a plot plugin of Hearth: it has no ", detail::kPlotSymbol)};
  if (!draw(HEARTH_PLOT_HASH, nullptr, nullptr))
    return {nullptr,
            str("Hearth's plot plugin ", file.path, " was built for another version of Hearth.")};
  return {draw, ""};
}

const Plugin& plugin() {
  static const Plugin& once = *new Plugin(load());
  return once;
}

}  // namespace

bool is_available() { return plugin().draw != nullptr; }
std::string why_not() { return plugin().why_not; }

void detail::check_available() {
  HEARTH_CHECK_AS(NotImplementedError, is_available(), "cannot draw a figure: ", why_not());
}

std::string Figure::png() const {
  detail::check_available();
  std::vector<const detail::Chart*> charts;
  for (const Axes& axes : axes_) charts.push_back(&axes.chart());
  std::string content;
  plugin().draw(HEARTH_PLOT_HASH, &charts, &content);
  return content;
}

Tensor Figure::image() const {
  std::string content = png();
  const auto size = static_cast<int64_t>(content.size());
  return vision::decode_image(from_blob(content.data(), {size}, kByte), vision::ImageReadMode::RGB);
}

void Figure::savefig(const std::string& path) const { io::write_file(path, png()); }

}  // namespace hearth::utils::plot
