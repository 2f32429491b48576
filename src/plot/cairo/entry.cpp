#include <algorithm>

#include "hearth/error.h"
#include "plot/cairo/panel.h"
#include "plot/cairo/style.h"
#include "plot/plugin.h"

#ifndef HEARTH_PLOT_HASH
#define HEARTH_PLOT_HASH 0  // a build without CMake
#endif

namespace hearth::utils::plot {

namespace {

constexpr double kMaxPixels = 32767;  // of a picture's side
constexpr size_t kMaxCharts = 29;     // as many charts of lines as fit side by side

std::string draw(const std::vector<const detail::Chart*>& charts) {
  HEARTH_CHECK(charts.size() <= kMaxCharts, "a picture has at most ", kMaxCharts,
               " charts, but there are ", charts.size());
  const Canvas ruler(1, 1, 1);  // measures texts: sizes depend on them
  std::vector<std::unique_ptr<Panel>> panels;
  double width = 0, height = 0;
  for (const detail::Chart* chart : charts) {
    panels.push_back(chart->cells ? make_cells_panel(*chart, ruler)
                                  : make_series_panel(*chart, ruler));
    width += panels.back()->width();
    height = std::max(height, panels.back()->height());
  }
  HEARTH_CHECK(std::max(width, height) * kPixels <= kMaxPixels, "the picture would have ",
               static_cast<int64_t>(width * kPixels), " x ", static_cast<int64_t>(height * kPixels),
               " pixels, but a side has at most ", static_cast<int64_t>(kMaxPixels));
  Canvas canvas(width, height, kPixels);
  double left = 0;
  for (const auto& panel : panels) {
    panel->draw(canvas, left);
    left += panel->width();
  }
  return canvas.png();
}

}  // namespace

}  // namespace hearth::utils::plot

/// The plugin's entry point (plot/plugin.h).
extern "C" [[gnu::visibility("default")]] bool hearth_plot_draw(
    uint64_t hash, const std::vector<const hearth::utils::plot::detail::Chart*>* charts,
    std::string* png) {
  using namespace hearth::utils::plot;
  if (hash != uint64_t{HEARTH_PLOT_HASH}) return false;
  if (charts) *png = draw(*charts);
  return true;
}
