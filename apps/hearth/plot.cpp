#include "plot.h"

#include <algorithm>
#include <cmath>

#include "hearth/error.h"
#include "hearth/io/file.h"
#include "plot/axis.h"
#include "plot/canvas.h"
#include "plot/lettering.h"

namespace hearth::app {

namespace {

// Lengths in the canvas's units; it has more pixels than that, for fine screens.
constexpr int kPixels = 2;
constexpr double kWidth = 560, kHeight = 380;
constexpr double kLeft = 74, kRight = 22, kTop = 46, kBottom = 58;
constexpr double kLetters = 9, kTitleLetters = 11;
constexpr double kLegendRow = 21, kLegendSample = 26, kLegendGap = 22;

constexpr Color kInk{51, 51, 51}, kFrame{110, 110, 110}, kGrid{228, 228, 228};
// Okabe and Ito's, which colour-blind readers can tell apart, without the yellow.
constexpr Color kColors[] = {{0, 114, 178}, {213, 94, 0},   {0, 158, 115}, {204, 121, 167},
                             {230, 159, 0}, {86, 180, 233}, {60, 60, 60}};
/// Past the colours' end, lines are dashed: lengths of dash and gap.
constexpr double kDashes[][2] = {{0, 0}, {9, 6}, {3, 4}};

struct Style {
  Color color;
  const double* dash;
};

Style style_of(size_t series) {
  const size_t round = series / std::size(kColors) % std::size(kDashes);
  return {kColors[series % std::size(kColors)], kDashes[round]};
}

/// Pieces of the line, `dash[0]` long with `dash[1]` between.
std::vector<Polyline> dashed(const Polyline& line, const double* dash) {
  if (dash[0] == 0 || line.size() < 2) return {line};
  std::vector<Polyline> pieces{{line[0]}};
  bool is_drawing = true;
  double left = dash[0];
  for (size_t i = 1; i < line.size(); ++i) {
    Point at = line[i - 1];
    double rest = std::hypot(line[i].x - at.x, line[i].y - at.y);
    while (rest > left) {
      at = {at.x + (line[i].x - at.x) * left / rest, at.y + (line[i].y - at.y) * left / rest};
      rest -= left;
      if (is_drawing)
        pieces.back().push_back(at);
      else
        pieces.push_back({at});
      is_drawing = !is_drawing;
      left = dash[is_drawing ? 0 : 1];
    }
    left -= rest;
    if (is_drawing) pieces.back().push_back(line[i]);
  }
  return pieces;
}

// How much of a text is on the left of its place.
constexpr double kStarts = 0, kCentered = 0.5, kEnds = 1;

/// `turn` maps points of a text on the x axis, which starts at the origin, to their places.
template <class Turn>
void write(Canvas& canvas, const std::string& text, double height, Turn turn) {
  std::vector<Polyline> lines = lettering(text, height);
  for (Polyline& line : lines)
    for (Point& p : line) p = turn(p);
  canvas.draw(lines, height * 0.13, kInk);
}

void write(Canvas& canvas, const std::string& text, Point at, double placed,
           double height = kLetters) {
  const double left = at.x - placed * length_of(text, height);
  write(canvas, text, height, [&](Point p) { return Point{left + p.x, at.y + p.y}; });
}

/// Upwards, with its middle at the point.
void write_upwards(Canvas& canvas, const std::string& text, Point at) {
  const double low = at.y + length_of(text, kLetters) / 2;
  write(canvas, text, kLetters, [&](Point p) { return Point{at.x + p.y, low - p.x}; });
}

/// One chart, its left upper corner at (left, 0).
class Panel {
 public:
  Panel(Canvas& canvas, const Chart& chart, double left)
      : canvas_(canvas),
        chart_(chart),
        x_(values(&Series::x), 8),
        y_(values(&Series::y), 6),
        edge_(left),
        left_(left + std::max(kLeft, 44 + longest_label())),
        right_(left + kWidth - kRight) {}

  void draw() {
    draw_grid();
    canvas_.draw({{{left_, kTop}, {left_, kBase}, {right_, kBase}}}, 1.2, kFrame);
    const double middle = (left_ + right_) / 2;
    write(canvas_, chart_.title, {middle, kTop - 18}, kCentered, kTitleLetters);
    write(canvas_, chart_.x_label, {middle, kBase + 44}, kCentered);
    write_upwards(canvas_, chart_.y_label, {edge_ + 20, (kTop + kBase) / 2});
    for (size_t i = 0; i < chart_.series.size(); ++i) draw_series(chart_.series[i], style_of(i));
    draw_legend();
  }

  /// How many rows of entries the legend needs, one entry being drawn by `visit(entry, x, row)`.
  template <class Visit>
  static int lay_legend_out(const Chart& chart, Visit visit) {
    double x = 0;
    int row = 0;
    for (size_t i = 0; i < chart.series.size(); ++i) {
      if (chart.series[i].name.empty()) continue;
      const double width = kLegendSample + 8 + length_of(chart.series[i].name, kLetters);
      if (x > 0 && x + width > kWidth - kLeft - kRight) {
        x = 0;
        ++row;
      }
      visit(i, x, row);
      x += width + kLegendGap;
    }
    return x > 0 ? row + 1 : 0;
  }

 private:
  static constexpr double kBase = kHeight - kBottom;

  std::vector<double> values(std::vector<double> Series::*coordinate) const {
    std::vector<double> all;
    for (const Series& series : chart_.series)
      all.insert(all.end(), (series.*coordinate).begin(), (series.*coordinate).end());
    return all;
  }

  double longest_label() const {
    double longest = 0;
    for (const Axis::Tick& tick : y_.ticks())
      longest = std::max(longest, length_of(tick.label, kLetters));
    return longest;
  }

  double place_x(double x) const { return left_ + (right_ - left_) * x_.share(x); }
  double place_y(double y) const { return kBase - (kBase - kTop) * y_.share(y); }

  void draw_grid() {
    std::vector<Polyline> grid;
    for (const auto& [value, label] : x_.ticks()) {
      const double x = place_x(value);
      grid.push_back({{x, kTop}, {x, kBase}});
      write(canvas_, label, {x, kBase + 20}, kCentered);
    }
    for (const auto& [value, label] : y_.ticks()) {
      const double y = place_y(value);
      grid.push_back({{left_, y}, {right_, y}});
      write(canvas_, label, {left_ - 9, y + kLetters / 2}, kEnds);
    }
    canvas_.draw(grid, 1, kGrid);
  }

  void draw_series(const Series& series, const Style& style) {
    constexpr size_t kFewPoints = 25, kManyPoints = 200;
    std::vector<Polyline> lines, dots;
    Polyline line;
    const auto finish = [&] {
      if (line.size() == 1) dots.push_back(line);
      if (line.size() > 1)
        for (Polyline& piece : dashed(line, style.dash)) lines.push_back(std::move(piece));
      line.clear();
    };
    for (size_t i = 0; i < series.x.size(); ++i) {
      if (Axis::holds(series.x[i]) && Axis::holds(series.y[i])) {
        line.push_back({place_x(series.x[i]), place_y(series.y[i])});
        if (series.x.size() <= kFewPoints) dots.push_back({line.back()});
      } else {
        finish();
      }
    }
    finish();
    canvas_.draw(lines, series.x.size() <= kManyPoints ? 2 : 1.2, style.color);
    canvas_.draw(dots, 6, style.color);
  }

  void draw_legend() {
    lay_legend_out(chart_, [&](size_t series, double x, int row) {
      const double left = edge_ + kLeft + x, y = kHeight + 6 + row * kLegendRow;
      const Style style = style_of(series);
      canvas_.draw(dashed({{left, y}, {left + kLegendSample, y}}, style.dash), 2.5, style.color);
      write(canvas_, chart_.series[series].name, {left + kLegendSample + 8, y + kLetters / 2},
            kStarts);
    });
  }

  Canvas& canvas_;
  const Chart& chart_;
  Axis x_, y_;
  double edge_, left_, right_;
};

void check(const std::vector<Chart>& charts) {
  HEARTH_CHECK(!charts.empty(), "write_png: there are no charts to draw");
  for (const Chart& chart : charts)
    for (const Series& series : chart.series)
      HEARTH_CHECK(series.x.size() == series.y.size(), "write_png: the series '", series.name,
                   "' has ", series.x.size(), " x and ", series.y.size(), " y");
}

}  // namespace

void write_png(const std::string& path, const std::vector<Chart>& charts) {
  check(charts);
  int legend_rows = 0;
  for (const Chart& chart : charts)
    legend_rows = std::max(legend_rows, Panel::lay_legend_out(chart, [](size_t, double, int) {}));
  Canvas canvas(kWidth * double(charts.size()), kHeight + legend_rows * kLegendRow, kPixels);
  for (size_t i = 0; i < charts.size(); ++i) Panel(canvas, charts[i], kWidth * double(i)).draw();
  io::write_file(path, canvas.png());
}

}  // namespace hearth::app
