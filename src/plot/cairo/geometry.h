#pragma once

#include <cstdint>
#include <vector>

namespace hearth::utils::plot {

struct Point {
  double x, y;
};
using Polyline = std::vector<Point>;

struct Color {
  uint8_t red, green, blue;
};

/// Lengths of a dashed line's dashes and gaps.
struct Dash {
  double length, gap;
};
inline constexpr Dash kSolid{0, 0};

}  // namespace hearth::utils::plot
