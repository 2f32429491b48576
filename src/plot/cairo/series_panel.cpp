#include <algorithm>
#include <cmath>
#include <optional>

#include "plot/cairo/axis.h"
#include "plot/cairo/legend.h"
#include "plot/cairo/panel.h"
#include "plot/cairo/style.h"
#include "plot/cairo/thinned.h"

namespace hearth::utils::plot {

namespace {

using detail::Chart;
using detail::Series;

constexpr double kWidth = 560, kHeight = 380;
constexpr double kLeft = 74, kRight = 22, kTop = 46, kBottom = 58;
constexpr double kAxisY = kHeight - kBottom;
constexpr double kYTitleWidth = 44;  // left of the labels of the y axis
constexpr double kBarShare = 0.8;    // of the distance between neighbouring names
constexpr double kDot = 6;           // the diameter of points

/// The values of one coordinate that its axis must cover. For a chart of bars, they include 0 on
/// the y axis and the room of the first and the last name on the x axis.
std::vector<double> values(const Chart& chart, std::vector<double> Series::*coordinate) {
  std::vector<double> result;
  for (const Series& series : chart.series)
    result.insert(result.end(), (series.*coordinate).begin(), (series.*coordinate).end());
  if (chart.names.empty()) return result;
  if (coordinate == &Series::y)
    result.push_back(0);
  else
    result.insert(result.end(), {-0.5, static_cast<double>(chart.names.size()) - 0.5});
  return result;
}

/// Whether the chart has bars, and nothing below 0.
bool stands_on_zero(const Chart& chart) {
  return !chart.names.empty() && std::ranges::all_of(chart.series, [](const Series& series) {
    return std::ranges::all_of(series.y, [](double y) { return !(y < 0); });
  });
}

/// A chart of lines, points and bars.
class SeriesPanel final : public Panel {
 public:
  SeriesPanel(const Chart& chart, const Canvas& ruler)
      : chart_(chart),
        legend_(chart, kWidth - kLeft - kRight, ruler),
        x_axis_(values(chart, &Series::x), 8),
        y_axis_(values(chart, &Series::y), 6, /*has_low_margin=*/!stands_on_zero(chart)),
        left_margin_(std::max(kLeft, kYTitleWidth + widest_label(ruler))) {
    for (const std::string& name : chart.names)
      widest_name_ = std::max(widest_name_, ruler.text_width(name, kFontSize));
    constexpr double kRowOfNames = 20;
    if (are_names_vertical()) more_bottom_ = std::max(0.0, widest_name_ - kRowOfNames + 8);
  }

  double width() const override { return kWidth; }
  double height() const override { return kHeight + more_bottom_ + legend_.height(); }

  void draw(Canvas& canvas, double edge) const override {
    const Drawing drawing{canvas, sharp(edge + left_margin_), edge + kWidth - kRight};
    draw_grid(drawing);
    const double middle = (drawing.left + drawing.right) / 2;
    canvas.draw_text(chart_.title, {middle, kTop - 18}, Align::kCenter, kTitleSize, kInk);
    canvas.draw_text(chart_.x_label, {middle, kAxisY + 44 + more_bottom_}, Align::kCenter,
                     kFontSize, kInk);
    canvas.draw_text(chart_.y_label, {edge + 20, (kTop + kAxisY) / 2}, Align::kCenter, kFontSize,
                     kInk, Direction::kUp);
    for (size_t i = 0; i < chart_.series.size(); ++i) draw_series(drawing, i);
    const double base = chart_.names.empty() ? kAxisY : sharp(canvas_y(0));
    canvas.draw_line({{drawing.left, kTop}, {drawing.left, kAxisY}, {drawing.right, kAxisY}}, 1,
                     kFrame);
    if (base < kAxisY) canvas.draw_line({{drawing.left, base}, {drawing.right, base}}, 1, kFrame);
    legend_.draw(canvas, edge + kLeft, kHeight + more_bottom_);
  }

 private:
  /// A canvas, and the ends of the x axis on it.
  struct Drawing {
    Canvas& canvas;
    double left, right;
  };

  double widest_label(const Canvas& ruler) const {
    double widest = 0;
    for (const Axis::Tick& tick : y_axis_.ticks())
      widest = std::max(widest, ruler.text_width(tick.label, kFontSize));
    return widest;
  }

  /// The distance between the positions of neighbouring names.
  double room_of_name() const {
    return (kWidth - kRight - left_margin_) * (x_axis_.fraction(1) - x_axis_.fraction(0));
  }
  bool are_names_vertical() const { return widest_name_ + 6 > room_of_name(); }

  double canvas_x(const Drawing& drawing, double x) const {
    return drawing.left + (drawing.right - drawing.left) * x_axis_.fraction(x);
  }
  double canvas_y(double y) const { return kAxisY - (kAxisY - kTop) * y_axis_.fraction(y); }

  void draw_grid(const Drawing& drawing) const {
    Canvas& canvas = drawing.canvas;
    for (const auto& [value, label] : y_axis_.ticks()) {
      const double y = sharp(canvas_y(value));
      canvas.draw_line({{drawing.left, y}, {drawing.right, y}}, 1, kGrid);
      canvas.draw_text(label, {drawing.left - 9, y + kHalfDigit}, Align::kRight, kFontSize, kInk);
    }
    if (!chart_.names.empty()) return draw_names(drawing);
    for (const auto& [value, label] : x_axis_.ticks()) {
      const double x = sharp(canvas_x(drawing, value));
      canvas.draw_line({{x, kTop}, {x, kAxisY}}, 1, kGrid);
      canvas.draw_text(label, {x, kAxisY + 20}, Align::kCenter, kFontSize, kInk);
    }
  }

  /// Draws the names of the bars, as many as there is room for.
  void draw_names(const Drawing& drawing) const {
    const bool is_vertical = are_names_vertical();
    const auto step = static_cast<size_t>(
        std::max(1.0, std::ceil(is_vertical ? (kFontSize + 2) / room_of_name() : 1)));
    for (size_t i = 0; i < chart_.names.size(); i += step) {
      const double x = canvas_x(drawing, static_cast<double>(i));
      if (is_vertical)
        drawing.canvas.draw_text(chart_.names[i], {x + kHalfDigit, kAxisY + 8}, Align::kRight,
                                 kFontSize, kInk, Direction::kUp);
      else
        drawing.canvas.draw_text(chart_.names[i], {x, kAxisY + 20}, Align::kCenter, kFontSize,
                                 kInk);
    }
  }

  void draw_series(const Drawing& drawing, size_t index) const {
    const Series& series = chart_.series[index];
    switch (series.kind) {
      case Series::Kind::Line: return draw_line(drawing, series, style_of(index));
      case Series::Kind::Points: return draw_points(drawing, series, style_of(index).color);
      case Series::Kind::Bars: return draw_bars(drawing, index);
    }
  }

  /// The point of element i; none if it cannot be shown.
  std::optional<Point> point(const Drawing& drawing, const Series& series, size_t i) const {
    if (!Axis::can_show(series.x[i]) || !Axis::can_show(series.y[i])) return std::nullopt;
    return Point{canvas_x(drawing, series.x[i]), canvas_y(series.y[i])};
  }

  void draw_points(const Drawing& drawing, const Series& series, Color color) const {
    for (size_t i = 0; i < series.x.size(); ++i)
      if (const auto at = point(drawing, series, i)) drawing.canvas.draw_dot(*at, kDot, color);
  }

  void draw_line(const Drawing& drawing, const Series& series, const Style& style) const {
    constexpr size_t kFewPoints = 25, kManyPoints = 200;
    const bool has_dots = series.x.size() <= kFewPoints;
    const double width = series.x.size() <= kManyPoints ? 2 : 1.2;
    Polyline line;
    const auto finish_line = [&] {
      if (line.size() > 1)
        drawing.canvas.draw_line(thinned(line, 1.0 / kPixels), width, style.color, style.dash);
      if (has_dots || line.size() == 1)
        for (const Point& p : line) drawing.canvas.draw_dot(p, kDot, style.color);
      line.clear();
    };
    for (size_t i = 0; i < series.x.size(); ++i) {
      if (const auto at = point(drawing, series, i))
        line.push_back(*at);
      else
        finish_line();
    }
    finish_line();
  }

  /// Draws the bars of a series beside those of the chart's other series.
  void draw_bars(const Drawing& drawing, size_t index) const {
    double count = 0, number = 0;
    for (size_t i = 0; i < chart_.series.size(); ++i) {
      if (chart_.series[i].kind != Series::Kind::Bars) continue;
      if (i < index) ++number;
      ++count;
    }
    const Series& series = chart_.series[index];
    const double size = kBarShare / count, base = canvas_y(0);
    for (size_t i = 0; i < series.x.size(); ++i) {
      if (!Axis::can_show(series.y[i])) continue;
      const double start = series.x[i] - kBarShare / 2 + number * size, y = canvas_y(series.y[i]);
      const double left = sharp(canvas_x(drawing, start)),
                   right = sharp(canvas_x(drawing, start + size));
      drawing.canvas.draw_rectangle({left, std::min(y, base)}, right - left, std::fabs(base - y),
                                    style_of(index).color);
    }
  }

  const Chart& chart_;
  const Legend legend_;
  const Axis x_axis_, y_axis_;
  const double left_margin_;
  double widest_name_ = 0;
  double more_bottom_ = 0;  // for vertical names
};

}  // namespace

std::unique_ptr<Panel> make_series_panel(const Chart& chart, const Canvas& ruler) {
  return std::make_unique<SeriesPanel>(chart, ruler);
}

}  // namespace hearth::utils::plot
