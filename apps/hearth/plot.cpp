#include "plot.h"

#include <algorithm>
#include <cmath>

#include "hearth/error.h"
#include "hearth/io/file.h"
#include "plot/axis.h"
#include "plot/canvas.h"
#include "plot/thinned.h"

namespace hearth::app {

namespace {

constexpr int kPixels = 2;  // per unit of length
constexpr double kWidth = 560, kHeight = 380;
constexpr double kLeft = 74, kRight = 22, kTop = 46, kBottom = 58;
constexpr double kYTitleWidth = 44;  // left of the labels of the y axis
constexpr double kFontSize = 12.5, kTitleSize = 15;
constexpr double kHalfDigit = 0.36 * kFontSize;  // from the baseline to a digit's middle
constexpr double kLegendRow = 21, kLegendLine = 26, kLegendIndent = kLegendLine + 8,
                 kLegendGap = 22;
constexpr int kMaxLegendRows = 20;
constexpr int kMaxPixels = 32767;  // of a picture's side
constexpr size_t kMaxCharts = kMaxPixels / static_cast<size_t>(kWidth * kPixels);

constexpr Color kInk{51, 51, 51}, kFrame{110, 110, 110}, kGrid{228, 228, 228};
// The palette of Okabe and Ito for colour-blind readers, without its yellow.
constexpr Color kColors[] = {{0, 114, 178}, {213, 94, 0},   {0, 158, 115}, {204, 121, 167},
                             {230, 159, 0}, {86, 180, 233}, {60, 60, 60}};
/// Each pattern is used with all colours before the next one.
constexpr Dash kDashes[] = {kSolid, {9, 6}, {3, 4}};

struct Style {
  Color color;
  Dash dash;
};

Style style_of(size_t series) {
  const size_t dash = series / std::size(kColors) % std::size(kDashes);
  return {kColors[series % std::size(kColors)], kDashes[dash]};
}

/// The nearest border between pixels, where horizontal and vertical lines are sharp.
double sharp(double length) { return std::round(length * kPixels) / kPixels; }

struct Legend {
  struct Entry {
    size_t series;
    double x;
    int row;
  };
  std::vector<Entry> entries;
  size_t omitted = 0;
  int rows = 0;
};

Legend lay_out_legend(const Chart& chart, const Canvas& canvas) {
  constexpr double kRoom = kWidth - kLeft - kRight;
  Legend legend;
  double x = 0;
  for (size_t i = 0; i < chart.series.size(); ++i) {
    const std::string& name = chart.series[i].name;
    if (name.empty()) continue;
    if (legend.omitted > 0) {
      ++legend.omitted;
      continue;
    }
    const double width = kLegendIndent + canvas.text_width(name, kFontSize);
    if (legend.rows == 0 || x + width > kRoom) {
      if (legend.rows == kMaxLegendRows) {
        legend.omitted = 1;
        continue;
      }
      x = 0;
      ++legend.rows;
    }
    legend.entries.push_back({i, x, legend.rows - 1});
    x += width + kLegendGap;
  }
  if (legend.omitted > 0) ++legend.rows;
  return legend;
}

/// One chart, its top left corner at (left, 0).
class Panel {
 public:
  Panel(Canvas& canvas, const Chart& chart, const Legend& legend, double left)
      : canvas_(canvas),
        chart_(chart),
        legend_(legend),
        x_axis_(values(&Series::x), 8),
        y_axis_(values(&Series::y), 6),
        edge_(left),
        left_(sharp(left + std::max(kLeft, kYTitleWidth + widest_label()))),
        right_(left + kWidth - kRight) {}

  void draw() {
    draw_grid();
    canvas_.draw_line({{left_, kTop}, {left_, kAxisY}, {right_, kAxisY}}, 1, kFrame);
    const double middle = (left_ + right_) / 2;
    write(chart_.title, {middle, kTop - 18}, Align::kCenter, kTitleSize);
    write(chart_.x_label, {middle, kAxisY + 44}, Align::kCenter);
    canvas_.draw_text(chart_.y_label, {edge_ + 20, (kTop + kAxisY) / 2}, Align::kCenter, kFontSize,
                      kInk, Direction::kUp);
    for (size_t i = 0; i < chart_.series.size(); ++i) draw_series(chart_.series[i], style_of(i));
    draw_legend();
  }

 private:
  static constexpr double kAxisY = kHeight - kBottom;

  void write(const std::string& text, Point at, Align align, double font_size = kFontSize) {
    canvas_.draw_text(text, at, align, font_size, kInk);
  }

  std::vector<double> values(std::vector<double> Series::*coordinate) const {
    std::vector<double> result;
    for (const Series& series : chart_.series)
      result.insert(result.end(), (series.*coordinate).begin(), (series.*coordinate).end());
    return result;
  }

  double widest_label() const {
    double widest = 0;
    for (const Axis::Tick& tick : y_axis_.ticks())
      widest = std::max(widest, canvas_.text_width(tick.label, kFontSize));
    return widest;
  }

  double canvas_x(double x) const { return left_ + (right_ - left_) * x_axis_.fraction(x); }
  double canvas_y(double y) const { return kAxisY - (kAxisY - kTop) * y_axis_.fraction(y); }

  void draw_grid() {
    for (const auto& [value, label] : x_axis_.ticks()) {
      const double x = sharp(canvas_x(value));
      canvas_.draw_line({{x, kTop}, {x, kAxisY}}, 1, kGrid);
      write(label, {x, kAxisY + 20}, Align::kCenter);
    }
    for (const auto& [value, label] : y_axis_.ticks()) {
      const double y = sharp(canvas_y(value));
      canvas_.draw_line({{left_, y}, {right_, y}}, 1, kGrid);
      write(label, {left_ - 9, y + kHalfDigit}, Align::kRight);
    }
  }

  void draw_series(const Series& series, const Style& style) {
    constexpr size_t kFewPoints = 25, kManyPoints = 200;
    const bool has_dots = series.x.size() <= kFewPoints;
    const double width = series.x.size() <= kManyPoints ? 2 : 1.2;
    Polyline line;
    const auto finish_line = [&] {
      if (line.size() > 1)
        canvas_.draw_line(thinned(line, 1.0 / kPixels), width, style.color, style.dash);
      if (has_dots || line.size() == 1)
        for (const Point& p : line) canvas_.draw_dot(p, 6, style.color);
      line.clear();
    };
    for (size_t i = 0; i < series.x.size(); ++i) {
      if (Axis::can_show(series.x[i]) && Axis::can_show(series.y[i]))
        line.push_back({canvas_x(series.x[i]), canvas_y(series.y[i])});
      else
        finish_line();
    }
    finish_line();
  }

  void draw_legend() {
    const double left = edge_ + kLeft;
    const auto row_middle = [](int row) { return kHeight + 6 + row * kLegendRow; };
    for (const auto& [series, x, row] : legend_.entries) {
      const double begin = left + x, y = row_middle(row);
      const Style style = style_of(series);
      canvas_.draw_line({{begin, y}, {begin + kLegendLine, y}}, 2.5, style.color, style.dash);
      write(chart_.series[series].name, {begin + kLegendIndent, y + kHalfDigit}, Align::kLeft);
    }
    if (legend_.omitted > 0)
      write("and " + std::to_string(legend_.omitted) + " more",
            {left, row_middle(legend_.rows - 1) + kHalfDigit}, Align::kLeft);
  }

  Canvas& canvas_;
  const Chart& chart_;
  const Legend& legend_;
  Axis x_axis_, y_axis_;
  double edge_;          // left edge of the chart
  double left_, right_;  // ends of the x axis
};

void check(const std::vector<Chart>& charts) {
  HEARTH_CHECK(!charts.empty(), "write_png: there are no charts to draw");
  HEARTH_CHECK(charts.size() <= kMaxCharts, "a picture has room for ", kMaxCharts,
               " charts, but there are ", charts.size());
  for (const Chart& chart : charts)
    for (const Series& series : chart.series)
      HEARTH_CHECK(series.x.size() == series.y.size(), "write_png: the series '", series.name,
                   "' has ", series.x.size(), " x and ", series.y.size(), " y");
}

}  // namespace

void write_png(const std::string& path, const std::vector<Chart>& charts) {
  check(charts);
  const Canvas ruler(1, 1, 1);  // measures texts: the picture's height depends on them
  std::vector<Legend> legends;
  int legend_rows = 0;
  for (const Chart& chart : charts) {
    legends.push_back(lay_out_legend(chart, ruler));
    legend_rows = std::max(legend_rows, legends.back().rows);
  }
  Canvas canvas(kWidth * double(charts.size()), kHeight + legend_rows * kLegendRow, kPixels);
  for (size_t i = 0; i < charts.size(); ++i)
    Panel(canvas, charts[i], legends[i], kWidth * double(i)).draw();
  io::write_file(path, canvas.png());
}

}  // namespace hearth::app
