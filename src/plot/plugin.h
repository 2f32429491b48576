#pragma once

#include <string>
#include <vector>

#include "hearth/utils/plot.h"

namespace hearth::utils::plot::detail {

/// The plugin's entry point ("hearth_plot_draw"): draws the charts as the content of a PNG file.
/// False if the plugin was built for another version of Hearth.
inline constexpr int kPlotVersion = 1;
inline constexpr char kPlotSymbol[] = "hearth_plot_draw";
using PlotEntry = bool (*)(int version, const std::vector<const Chart*>* charts, std::string* png);

/// Throws, with the reason, unless the plugin can be used.
void check_available();

}  // namespace hearth::utils::plot::detail
