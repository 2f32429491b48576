#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::app {

struct Point {
  double x, y;
};
using Polyline = std::vector<Point>;

struct Color {
  uint8_t red, green, blue;
};

/// A white picture to draw on, antialiased. Lengths are in units of `scale` pixels.
class Canvas {
 public:
  Canvas(double width, double height, int scale);

  /// Lines with round ends and joints; a line of one point is a dot.
  void draw(const std::vector<Polyline>& lines, double thickness, Color color);
  /// The picture as a PNG file's content.
  std::string png() const;

 private:
  uint8_t* pixel(int row, int column) { return &rgb_[(size_t(row) * width_ + column) * 3]; }

  int scale_, width_, height_;
  std::vector<uint8_t> rgb_;
};

}  // namespace hearth::app
