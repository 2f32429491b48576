#include "plot/cairo/canvas.h"

#include <cmath>
#include <new>
#include <numbers>

#include "hearth/error.h"

namespace hearth::utils::plot {

namespace {

void check_status(cairo_status_t status) {
  HEARTH_CHECK(status == CAIRO_STATUS_SUCCESS,
               "cannot draw the picture: ", cairo_status_to_string(status));
}

/// Cairo's callback for written data: appends it to the std::string that `content` points to.
cairo_status_t append(void* content, const unsigned char* data, unsigned size) {
  try {
    static_cast<std::string*>(content)->append(reinterpret_cast<const char*>(data), size);
    return CAIRO_STATUS_SUCCESS;
  } catch (const std::bad_alloc&) {
    return CAIRO_STATUS_NO_MEMORY;
  }
}

}  // namespace

Canvas::Canvas(double width, double height, int scale)
    : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, int(std::ceil(width * scale)),
                                          int(std::ceil(height * scale)))),
      context_(cairo_create(surface_.get())) {
  cairo_t* context = context_.get();
  check();
  cairo_set_source_rgb(context, 1, 1, 1);
  cairo_paint(context);
  cairo_scale(context, scale, scale);
  cairo_set_line_cap(context, CAIRO_LINE_CAP_ROUND);
  cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND);
  // Without any font on the machine, Cairo draws its built-in one.
  cairo_select_font_face(context, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_set_font_options(context, options);
  cairo_font_options_destroy(options);
}

void Canvas::draw_line(const Polyline& line, double width, Color color, Dash dash) {
  cairo_t* context = context_.get();
  const double lengths[] = {dash.length, dash.gap};
  cairo_set_dash(context, lengths, dash.length > 0 ? 2 : 0, 0);
  cairo_set_line_width(context, width);
  set_color(color);
  for (const Point& p : line) cairo_line_to(context, p.x, p.y);
  cairo_stroke(context);
}

void Canvas::draw_rectangle(Point top_left, double width, double height, Color color) {
  set_color(color);
  cairo_rectangle(context_.get(), top_left.x, top_left.y, width, height);
  cairo_fill(context_.get());
}

void Canvas::draw_squares(Point top_left, double side, size_t columns,
                          const std::vector<Color>& colors) {
  std::vector<uint32_t> pixels;  // in Cairo's format of an image, magnified when it is painted
  pixels.reserve(colors.size());
  for (const Color& color : colors)
    pixels.push_back(uint32_t{color.red} << 16 | uint32_t{color.green} << 8 | color.blue);
  const std::unique_ptr<cairo_surface_t, Destroy> image(cairo_image_surface_create_for_data(
      reinterpret_cast<unsigned char*>(pixels.data()), CAIRO_FORMAT_RGB24, int(columns),
      int(colors.size() / columns), int(columns * sizeof(uint32_t))));
  cairo_t* context = context_.get();
  cairo_save(context);
  cairo_translate(context, top_left.x, top_left.y);
  cairo_scale(context, side, side);
  cairo_set_source_surface(context, image.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(context), CAIRO_FILTER_NEAREST);
  cairo_paint(context);
  cairo_restore(context);
  check();
}

void Canvas::draw_dot(Point center, double diameter, Color color) {
  set_color(color);
  cairo_arc(context_.get(), center.x, center.y, diameter / 2, 0, 2 * std::numbers::pi);
  cairo_fill(context_.get());
}

void Canvas::draw_text(const std::string& text, Point at, Align align, double font_size,
                       Color color, Direction direction) {
  cairo_t* context = context_.get();
  const double width = text_width(text, font_size);
  const double left_of_anchor = align == Align::kLeft     ? 0
                                : align == Align::kCenter ? width / 2
                                                          : width;
  set_color(color);
  cairo_set_font_size(context, font_size);
  cairo_save(context);
  cairo_translate(context, at.x, at.y);
  if (direction == Direction::kUp) cairo_rotate(context, -std::numbers::pi / 2);
  cairo_move_to(context, -left_of_anchor, 0);
  cairo_show_text(context, text.c_str());
  cairo_new_path(context);  // showing a text leaves a current point
  cairo_restore(context);
}

double Canvas::text_width(const std::string& text, double font_size) const {
  cairo_text_extents_t extents;
  cairo_set_font_size(context_.get(), font_size);
  cairo_text_extents(context_.get(), text.c_str(), &extents);
  check();
  return extents.x_advance;
}

std::string Canvas::png() const {
  check();
  std::string content;
  check_status(cairo_surface_write_to_png_stream(surface_.get(), append, &content));
  return content;
}

void Canvas::set_color(Color color) {
  cairo_set_source_rgb(context_.get(), color.red / 255.0, color.green / 255.0, color.blue / 255.0);
}

void Canvas::check() const { check_status(cairo_status(context_.get())); }

}  // namespace hearth::utils::plot
