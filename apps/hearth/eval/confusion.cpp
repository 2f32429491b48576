#include "confusion.h"

#include <algorithm>
#include <cmath>

#include "../plot/canvas.h"
#include "../text_table.h"
#include "hearth/hearth.h"

namespace hearth::app {

namespace {

constexpr int kPixels = 2;  // per unit of length
constexpr double kFontSize = 12.5, kMargin = 16, kTitles = 60;
constexpr double kMaxWidth = 8000;              // of the picture
constexpr int64_t kMaxClassesWithNumbers = 30;  // with more, the cells have no numbers
constexpr Color kInk{51, 51, 51}, kPaper{255, 255, 255}, kDeepest{0, 74, 124};

/// The matrix's counts.
class Counts {
 public:
  explicit Counts(const Tensor& matrix)
      : matrix_(matrix.to(kLong).cpu().contiguous()), classes_(matrix.size(0)) {}

  int64_t classes() const { return classes_; }
  int64_t at(int64_t row, int64_t column) const {
    return matrix_.data_ptr<int64_t>()[row * classes_ + column];
  }
  int64_t in_row(int64_t row) const {
    int64_t sum = 0;
    for (int64_t column = 0; column < classes_; ++column) sum += at(row, column);
    return sum;
  }
  /// The share of a row's examples in a column.
  double share(int64_t row, int64_t column) const {
    const int64_t sum = in_row(row);
    return sum > 0 ? static_cast<double>(at(row, column)) / static_cast<double>(sum) : 0;
  }

 private:
  Tensor matrix_;
  int64_t classes_;
};

/// White for 0, dark for 1.
Color shade(double share) {
  const auto mix = [share](uint8_t from, uint8_t to) {
    return static_cast<uint8_t>(std::lround(from + share * (to - from)));
  };
  return {mix(kPaper.red, kDeepest.red), mix(kPaper.green, kDeepest.green),
          mix(kPaper.blue, kDeepest.blue)};
}

double widest(const Canvas& canvas, const std::vector<std::string>& names) {
  double width = 0;
  for (const std::string& name : names) width = std::max(width, canvas.text_width(name, kFontSize));
  return width;
}

}  // namespace

std::string confusion_text(const Tensor& matrix, const std::vector<std::string>& names) {
  const Counts counts(matrix);
  std::vector<std::string> head{"true \\ predicted"};
  head.insert(head.end(), names.begin(), names.end());
  head.push_back("recognised");
  TextTable table(head);
  for (int64_t row = 0; row < counts.classes(); ++row) {
    std::vector<std::string> cells{names[static_cast<size_t>(row)]};
    for (int64_t column = 0; column < counts.classes(); ++column)
      cells.push_back(std::to_string(counts.at(row, column)));
    cells.push_back(counts.in_row(row) > 0 ? fixed(counts.share(row, row), 4) : "");
    table.add(cells);
  }
  return table.text();
}

std::string confusion_png(const Tensor& matrix, const std::vector<std::string>& names) {
  const Counts counts(matrix);
  const bool has_numbers = counts.classes() <= kMaxClassesWithNumbers;
  const double label = has_numbers ? widest(Canvas(1, 1, 1), names) + 10 : 0;
  const double side =
      std::min(has_numbers ? 46.0 : 12.0, kMaxWidth / static_cast<double>(counts.classes()));
  const double start = kTitles + label, size = side * static_cast<double>(counts.classes());
  Canvas canvas(start + size + kMargin, start + size + kMargin, kPixels);
  canvas.draw_text("predicted", {start + size / 2, kTitles / 2}, Align::kCenter, kFontSize, kInk);
  canvas.draw_text("true", {kTitles / 2, start + size / 2}, Align::kCenter, kFontSize, kInk,
                   Direction::kUp);
  for (int64_t row = 0; row < counts.classes(); ++row) {
    const double y = start + side * static_cast<double>(row), middle = side / 2 + 0.36 * kFontSize;
    if (has_numbers) {
      const std::string& name = names[static_cast<size_t>(row)];
      canvas.draw_text(name, {start - 8, y + middle}, Align::kRight, kFontSize, kInk);
      canvas.draw_text(name, {y + middle, start - 8}, Align::kLeft, kFontSize, kInk,
                       Direction::kUp);
    }
    for (int64_t column = 0; column < counts.classes(); ++column) {
      const double x = start + side * static_cast<double>(column);
      const double share = counts.share(row, column);
      canvas.draw_rectangle({x, y}, side, side, shade(share));
      if (has_numbers && counts.at(row, column) > 0)
        canvas.draw_text(std::to_string(counts.at(row, column)), {x + side / 2, y + middle},
                         Align::kCenter, kFontSize - 1.5, share > 0.5 ? kPaper : kInk);
    }
  }
  const double end = start + size;
  canvas.draw_line({{start, start}, {end, start}, {end, end}, {start, end}, {start, start}}, 1,
                   kInk);
  return canvas.png();
}

}  // namespace hearth::app
