#pragma once

#include <string>
#include <vector>

namespace hearth::app {

/// A line through the points (x[i], y[i]), with a gap where either is not finite.
struct Series {
  std::string name;
  std::vector<double> x, y;
};

struct Chart {
  std::string title, x_label, y_label;
  std::vector<Series> series;
};

/// Draws charts side by side into a PNG file, which is replaced atomically.
void write_png(const std::string& path, const std::vector<Chart>& charts);

}  // namespace hearth::app
