#pragma once

#include <cmath>
#include <cstddef>
#include <iterator>

#include "plot/cairo/geometry.h"

// Sizes and colours of all charts.
namespace hearth::utils::plot {

inline constexpr int kPixels = 2;  // per unit of length
inline constexpr double kFontSize = 12.5, kTitleSize = 15;
inline constexpr double kHalfDigit = 0.36 * kFontSize;  // from the baseline to a digit's middle

inline constexpr Color kInk{51, 51, 51}, kFrame{110, 110, 110}, kGrid{228, 228, 228};
// The palette of Okabe and Ito for colour-blind readers, without its yellow and with dark grey for
// its black.
inline constexpr Color kColors[] = {{0, 114, 178}, {213, 94, 0},   {0, 158, 115}, {204, 121, 167},
                                    {230, 159, 0}, {86, 180, 233}, {60, 60, 60}};
/// Each pattern is used with all colours before the next one.
inline constexpr Dash kDashes[] = {kSolid, {9, 6}, {3, 4}};

struct Style {
  Color color;
  Dash dash;
};

inline Style style_of(size_t series) {
  const size_t dash = series / std::size(kColors) % std::size(kDashes);
  return {kColors[series % std::size(kColors)], kDashes[dash]};
}

/// The nearest border between pixels, where horizontal and vertical lines are sharp.
inline double sharp(double length) { return std::round(length * kPixels) / kPixels; }

}  // namespace hearth::utils::plot
