#include <algorithm>
#include <cmath>

#include "plot/cairo/panel.h"
#include "plot/cairo/style.h"

namespace hearth::utils::plot {

namespace {

using detail::Cells;
using detail::Chart;

constexpr double kMargin = 16, kAxisTitle = 60, kTitle = 28;
constexpr double kMaxExtent = 8000;         // of all cells, in both directions
constexpr int64_t kMaxCellsWithTexts = 30;  // of a side; with more, there are no texts
constexpr Color kPaper{255, 255, 255}, kDeepest{0, 74, 124}, kNoValue{200, 200, 200};

/// White for 0, dark for 1, grey for a negative shade: the cell has no value.
Color color_of(double shade) {
  if (shade < 0) return kNoValue;
  const auto mix = [shade](uint8_t from, uint8_t to) {
    return static_cast<uint8_t>(std::lround(from + shade * (to - from)));
  };
  return {mix(kPaper.red, kDeepest.red), mix(kPaper.green, kDeepest.green),
          mix(kPaper.blue, kDeepest.blue)};
}

double widest(const Canvas& ruler, const std::vector<std::string>& texts) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, ruler.text_width(text, kFontSize));
  return texts.empty() ? 0 : width + 10;
}

class CellsPanel final : public Panel {
 public:
  CellsPanel(const Chart& chart, const Canvas& ruler) : chart_(chart), cells_(*chart.cells) {
    const int64_t longest = std::max(cells_.rows, cells_.columns);
    has_texts_ = longest <= kMaxCellsWithTexts;
    side_ = std::min(has_texts_ ? 46.0 : 12.0, kMaxExtent / static_cast<double>(longest));
    left_ = kAxisTitle + (has_texts_ ? widest(ruler, cells_.row_names) : 0);
    top_ = kAxisTitle + (has_texts_ ? widest(ruler, cells_.column_names) : 0) +
           (chart.title.empty() ? 0 : kTitle);
  }

  double width() const override {
    return left_ + side_ * static_cast<double>(cells_.columns) + kMargin;
  }
  double height() const override {
    return top_ + side_ * static_cast<double>(cells_.rows) + kMargin;
  }

  void draw(Canvas& canvas, double edge) const override {
    const double left = edge + left_, right = edge + width() - kMargin, bottom = height() - kMargin;
    const double titles = chart_.title.empty() ? 0 : kTitle;
    canvas.draw_text(chart_.title, {(left + right) / 2, kTitle}, Align::kCenter, kTitleSize, kInk);
    canvas.draw_text(chart_.x_label, {(left + right) / 2, titles + kAxisTitle / 2}, Align::kCenter,
                     kFontSize, kInk);
    canvas.draw_text(chart_.y_label, {edge + kAxisTitle / 2, (top_ + bottom) / 2}, Align::kCenter,
                     kFontSize, kInk, Direction::kUp);
    for (int64_t row = 0; row < cells_.rows; ++row)
      for (int64_t column = 0; column < cells_.columns; ++column)
        draw_cell(canvas, left, row, column);
    if (has_texts_) draw_names(canvas, left);
    canvas.draw_line({{left, top_}, {right, top_}, {right, bottom}, {left, bottom}, {left, top_}},
                     1, kInk);
  }

 private:
  double middle() const { return side_ / 2 + kHalfDigit; }

  void draw_cell(Canvas& canvas, double left, int64_t row, int64_t column) const {
    const Cells::Cell& cell = cells_.cells[static_cast<size_t>(row * cells_.columns + column)];
    const double x = left + side_ * static_cast<double>(column),
                 y = top_ + side_ * static_cast<double>(row);
    canvas.draw_rectangle({x, y}, side_, side_, color_of(cell.shade));
    if (has_texts_)
      canvas.draw_text(cell.text, {x + side_ / 2, y + middle()}, Align::kCenter, kFontSize - 1.5,
                       cell.shade > 0.5 ? kPaper : kInk);
  }

  void draw_names(Canvas& canvas, double left) const {
    for (size_t i = 0; i < cells_.row_names.size(); ++i)
      canvas.draw_text(cells_.row_names[i],
                       {left - 8, top_ + side_ * static_cast<double>(i) + middle()}, Align::kRight,
                       kFontSize, kInk);
    for (size_t i = 0; i < cells_.column_names.size(); ++i)
      canvas.draw_text(cells_.column_names[i],
                       {left + side_ * static_cast<double>(i) + middle(), top_ - 8}, Align::kLeft,
                       kFontSize, kInk, Direction::kUp);
  }

  const Chart& chart_;
  const Cells& cells_;
  bool has_texts_ = true;
  double side_ = 0, left_ = 0, top_ = 0;
};

}  // namespace

std::unique_ptr<Panel> make_cells_panel(const Chart& chart, const Canvas& ruler) {
  return std::make_unique<CellsPanel>(chart, ruler);
}

}  // namespace hearth::utils::plot
