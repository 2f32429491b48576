#include "plot/canvas.h"

#include <png.h>

#include <algorithm>
#include <cmath>

#include "hearth/error.h"

namespace hearth::app {

namespace {

/// Pixels from..to, without the last.
struct Span {
  int from, to;
  int size() const { return std::max(to - from, 0); }
};

double distance_to_segment(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  const double along = length == 0 ? 0 : ((p.x - a.x) * dx + (p.y - a.y) * dy) / length;
  const double t = std::clamp(along, 0.0, 1.0);
  return std::hypot(p.x - (a.x + t * dx), p.y - (a.y + t * dy));
}

/// How much of each pixel lies under lines; where they cross, nothing counts twice.
class Coverage {
 public:
  Coverage(Span rows, Span columns)
      : rows_(rows), columns_(columns), share_(size_t(rows.size()) * size_t(columns.size())) {}

  void add(Point a, Point b, double radius) {
    const Span rows = around(a.y, b.y, radius, rows_), columns = around(a.x, b.x, radius, columns_);
    for (int row = rows.from; row < rows.to; ++row)
      for (int column = columns.from; column < columns.to; ++column) {
        const double distance = distance_to_segment({column + 0.5, row + 0.5}, a, b);
        double& share = share_at(row, column);
        share = std::max(share, std::clamp(radius + 0.5 - distance, 0.0, 1.0));
      }
  }

  double& share_at(int row, int column) {
    return share_[size_t(row - rows_.from) * columns_.size() + (column - columns_.from)];
  }

  static Span around(double a, double b, double radius, Span within) {
    const double low = std::min(a, b) - radius - 1, high = std::max(a, b) + radius + 1;
    return {std::max(int(std::floor(low)), within.from),
            std::min(int(std::ceil(high)) + 1, within.to)};
  }

 private:
  Span rows_, columns_;
  std::vector<double> share_;
};

}  // namespace

Canvas::Canvas(double width, double height, int scale)
    : scale_(scale),
      width_(int(std::ceil(width * scale))),
      height_(int(std::ceil(height * scale))),
      rgb_(size_t(width_) * height_ * 3, 255) {}

void Canvas::draw(const std::vector<Polyline>& lines, double thickness, Color color) {
  const double radius = thickness * scale_ / 2;
  Span rows{height_, 0}, columns{width_, 0};
  for (const Polyline& line : lines)
    for (const auto [x, y] : line) {
      const Span near_row = Coverage::around(y * scale_, y * scale_, radius, {0, height_});
      const Span near_column = Coverage::around(x * scale_, x * scale_, radius, {0, width_});
      rows = {std::min(rows.from, near_row.from), std::max(rows.to, near_row.to)};
      columns = {std::min(columns.from, near_column.from), std::max(columns.to, near_column.to)};
    }
  Coverage coverage(rows, columns);
  for (const Polyline& line : lines)
    for (size_t i = 0; i < line.size(); ++i) {
      const Point from = line[i > 0 ? i - 1 : 0], to = line[i];
      coverage.add({from.x * scale_, from.y * scale_}, {to.x * scale_, to.y * scale_}, radius);
    }
  const uint8_t ink[] = {color.red, color.green, color.blue};
  for (int row = rows.from; row < rows.to; ++row)
    for (int column = columns.from; column < columns.to; ++column) {
      const double share = coverage.share_at(row, column);
      for (int i = 0; i < 3; ++i) {
        uint8_t& value = pixel(row, column)[i];
        value = uint8_t(std::lround(value + (ink[i] - value) * share));
      }
    }
}

std::string Canvas::png() const {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = png_uint_32(width_);
  image.height = png_uint_32(height_);
  image.format = PNG_FORMAT_RGB;
  std::string content(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
  png_alloc_size_t size = content.size();
  const int ok =
      png_image_write_to_memory(&image, content.data(), &size, 0, rgb_.data(), 0, nullptr);
  HEARTH_CHECK(ok, "libpng could not encode a picture: ", image.message);
  content.resize(size);
  return content;
}

}  // namespace hearth::app
