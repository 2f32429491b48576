#pragma once

#include <string>
#include <vector>

namespace hearth::app {

/// A line through (x[i], y[i]); where either is not finite it has a gap.
struct Series {
  std::string name;
  std::vector<double> x, y;
};

struct Chart {
  std::string title, x_label, y_label;
  std::vector<Series> series;
};

/// Charts side by side, as a PNG file, written atomically.
void write_png(const std::string& path, const std::vector<Chart>& charts);

}  // namespace hearth::app
