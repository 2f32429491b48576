#pragma once

#include <cairo.h>

#include <memory>
#include <string>
#include <vector>

#include "plot/cairo/geometry.h"

namespace hearth::utils::plot {

/// kLeft: a text starts at its point. kRight: it ends there.
enum class Align { kLeft, kCenter, kRight };
enum class Direction { kRight, kUp };

/// A white picture to draw on. Lengths are in units of `scale` pixels.
class Canvas {
 public:
  Canvas(double width, double height, int scale);

  /// Lines have round ends and joints.
  void draw_line(const Polyline& line, double width, Color color, Dash dash = kSolid);
  void draw_rectangle(Point top_left, double width, double height, Color color);
  /// Draws rows of squares; sharp if the corner and the side are whole numbers of pixels.
  void draw_squares(Point top_left, double side, size_t columns, const std::vector<Color>& colors);
  void draw_dot(Point center, double diameter, Color color);
  /// `at` lies on the baseline.
  void draw_text(const std::string& text, Point at, Align align, double font_size, Color color,
                 Direction direction = Direction::kRight);
  double text_width(const std::string& text, double font_size) const;
  /// The picture as the content of a PNG file.
  std::string png() const;

 private:
  struct Destroy {
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
    void operator()(cairo_t* context) const { cairo_destroy(context); }
  };

  void set_color(Color color);
  void check() const;

  std::unique_ptr<cairo_surface_t, Destroy> surface_;
  std::unique_ptr<cairo_t, Destroy> context_;
};

}  // namespace hearth::utils::plot
