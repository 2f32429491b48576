#pragma once

#include "plot/cairo/geometry.h"

namespace hearth::utils::plot {

/// The line's ends and, of each run of successive points in one column of this width, the lowest
/// and the highest: a line of many points looks the same, and is drawn much faster.
Polyline thinned(const Polyline& line, double column_width);

}  // namespace hearth::utils::plot
