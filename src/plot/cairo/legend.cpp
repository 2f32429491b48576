#include "plot/cairo/legend.h"

#include "plot/cairo/style.h"

namespace hearth::utils::plot {

namespace {

constexpr double kRow = 21;            // the height of a row
constexpr double kLine = 26;           // the length of the line before a label
constexpr double kIndent = kLine + 8;  // from the start of the line to the label
constexpr double kGap = 22;            // after a label
constexpr int kMaxRows = 20;

}  // namespace

Legend::Legend(const detail::Chart& chart, double width, const Canvas& ruler) : chart_(chart) {
  double x = 0;
  for (size_t i = 0; i < chart.series.size(); ++i) {
    const std::string& label = chart.series[i].label;
    if (label.empty()) continue;
    if (omitted_ > 0) {
      ++omitted_;
      continue;
    }
    const double size = kIndent + ruler.text_width(label, kFontSize);
    if (rows_ == 0 || x + size > width) {
      if (rows_ == kMaxRows) {
        omitted_ = 1;
        continue;
      }
      x = 0;
      ++rows_;
    }
    entries_.push_back({i, x, rows_ - 1});
    x += size + kGap;
  }
  if (omitted_ > 0) ++rows_;
}

double Legend::height() const { return rows_ * kRow; }

void Legend::draw_entry(Canvas& canvas, const Entry& entry, double x, double y) const {
  using Kind = detail::Series::Kind;
  const detail::Series& series = chart_.series[entry.series];
  const Style style = style_of(entry.series);
  switch (series.kind) {
    case Kind::Line:
      canvas.draw_line({{x, y}, {x + kLine, y}}, 2.5, style.color, style.dash);
      break;
    case Kind::Points: canvas.draw_dot({x + kLine / 2, y}, 6, style.color); break;
    case Kind::Bars: canvas.draw_rectangle({x + kLine - 16, y - 5}, 16, 10, style.color); break;
  }
  canvas.draw_text(series.label, {x + kIndent, y + kHalfDigit}, Align::kLeft, kFontSize, kInk);
}

void Legend::draw(Canvas& canvas, double left, double top) const {
  const auto middle = [&](int row) { return top + 6 + row * kRow; };
  for (const Entry& entry : entries_) draw_entry(canvas, entry, left + entry.x, middle(entry.row));
  if (omitted_ > 0)
    canvas.draw_text("and " + std::to_string(omitted_) + " more",
                     {left, middle(rows_ - 1) + kHalfDigit}, Align::kLeft, kFontSize, kInk);
}

}  // namespace hearth::utils::plot
