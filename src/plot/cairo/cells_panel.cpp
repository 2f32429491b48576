#include <algorithm>
#include <cmath>

#include "plot/cairo/panel.h"
#include "plot/cairo/style.h"

namespace hearth::utils::plot {

namespace {

using detail::Cells;
using detail::Chart;

constexpr double kMargin = 16, kAxisTitle = 60, kTitle = 28;
constexpr int64_t kSideWithText = 92, kSide = 24;  // of a cell, in pixels
constexpr int64_t kMaxPixels = 4000;               // of a side of the matrix, if it has no texts
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
  return texts.empty() ? 0 : sharp(width + 10);
}

/// The mean shade of the cells of a rectangle that have a finite value; negative if there are none.
double mean_shade(const Cells& cells, int64_t row, int64_t end_row, int64_t column,
                  int64_t end_column) {
  double sum = 0;
  int64_t count = 0;
  for (; row < end_row; ++row)
    for (int64_t i = row * cells.columns + column; i < row * cells.columns + end_column; ++i) {
      const double shade = cells.shades[static_cast<size_t>(i)];
      if (shade < 0) continue;
      sum += shade;
      ++count;
    }
  return count > 0 ? sum / static_cast<double>(count) : -1;
}

/// The colours of `rows` x `columns` squares, each of which covers at least one cell.
std::vector<Color> colors_of(const Cells& cells, int64_t rows, int64_t columns) {
  std::vector<Color> colors;
  colors.reserve(static_cast<size_t>(rows * columns));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      colors.push_back(
          color_of(mean_shade(cells, r * cells.rows / rows, (r + 1) * cells.rows / rows,
                              c * cells.columns / columns, (c + 1) * cells.columns / columns)));
  return colors;
}

class CellsPanel final : public Panel {
 public:
  CellsPanel(const Chart& chart, const Canvas& ruler)
      : chart_(chart),
        cells_(*chart.cells),
        has_texts_(cells_.has_texts()),
        rows_(std::min(cells_.rows, kMaxPixels)),
        columns_(std::min(cells_.columns, kMaxPixels)) {
    const int64_t most = std::max(rows_, columns_);
    side_ = double(has_texts_ ? kSideWithText : std::min(kSide, kMaxPixels / most)) / kPixels;
    left_ = kAxisTitle + (has_texts_ ? widest(ruler, cells_.row_names) : 0);
    top_ = kAxisTitle + (has_texts_ ? widest(ruler, cells_.column_names) : 0) +
           (chart.title.empty() ? 0 : kTitle);
  }

  double width() const override { return left_ + side_ * static_cast<double>(columns_) + kMargin; }
  double height() const override { return top_ + side_ * static_cast<double>(rows_) + kMargin; }

  void draw(Canvas& canvas, double edge) const override {
    const double left = sharp(edge + left_), right = left + side_ * double(columns_),
                 bottom = height() - kMargin;
    const double titles = chart_.title.empty() ? 0 : kTitle;
    canvas.draw_text(chart_.title, {(left + right) / 2, kTitle}, Align::kCenter, kTitleSize, kInk);
    canvas.draw_text(chart_.x_label, {(left + right) / 2, titles + kAxisTitle / 2}, Align::kCenter,
                     kFontSize, kInk);
    canvas.draw_text(chart_.y_label, {edge + kAxisTitle / 2, (top_ + bottom) / 2}, Align::kCenter,
                     kFontSize, kInk, Direction::kUp);
    canvas.draw_squares({left, top_}, side_, static_cast<size_t>(columns_),
                        colors_of(cells_, rows_, columns_));
    if (has_texts_) draw_texts(canvas, left);
    if (has_texts_) draw_names(canvas, left);
    canvas.draw_line({{left, top_}, {right, top_}, {right, bottom}, {left, bottom}, {left, top_}},
                     1, kInk);
  }

 private:
  double middle() const { return side_ / 2 + kHalfDigit; }

  void draw_texts(Canvas& canvas, double left) const {
    for (size_t i = 0; i < cells_.texts.size(); ++i) {
      const size_t row = i / static_cast<size_t>(columns_),
                   column = i % static_cast<size_t>(columns_);
      canvas.draw_text(cells_.texts[i],
                       {left + side_ * (static_cast<double>(column) + 0.5),
                        top_ + side_ * static_cast<double>(row) + middle()},
                       Align::kCenter, kFontSize - 1.5, cells_.shades[i] > 0.5 ? kPaper : kInk);
    }
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
  bool has_texts_;
  int64_t rows_, columns_;                // of squares; each shows one cell or several
  double side_ = 0, left_ = 0, top_ = 0;  // whole numbers of pixels
};

}  // namespace

std::unique_ptr<Panel> make_cells_panel(const Chart& chart, const Canvas& ruler) {
  return std::make_unique<CellsPanel>(chart, ruler);
}

}  // namespace hearth::utils::plot
