#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hearth/utils/plot.h"

namespace hearth::utils::plot::detail {

/// The plugin's entry point ("hearth_plot_draw"): draws the charts as the content of a PNG file.
/// Returns false, without drawing, if `hash` differs from the plugin's: Hearth was built from other
/// headers of charts. If `charts` is null, it only compares the hash.
inline constexpr char kPlotSymbol[] = "hearth_plot_draw";
using PlotEntry = bool (*)(uint64_t hash, const std::vector<const Chart*>* charts,
                           std::string* png);

/// Throws, with the reason, unless the plugin can be used.
void check_available();

}  // namespace hearth::utils::plot::detail
