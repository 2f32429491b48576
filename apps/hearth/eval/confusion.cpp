#include "confusion.h"

#include <algorithm>
#include <iterator>

#include "../names.h"
#include "../text_table.h"
#include "hearth/hearth.h"
#include "hearth/utils/plot.h"

namespace hearth::app {

namespace {

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

}  // namespace

std::string confusion_text(const Tensor& matrix, const std::vector<std::string>& names) {
  const Counts counts(matrix);
  std::vector<std::string> head{"true \\ predicted"};
  std::ranges::transform(names, std::back_inserter(head), printable);
  head.push_back("recognised");
  TextTable table(head);
  for (int64_t row = 0; row < counts.classes(); ++row) {
    std::vector<std::string> cells{head[static_cast<size_t>(row) + 1]};
    for (int64_t column = 0; column < counts.classes(); ++column)
      cells.push_back(std::to_string(counts.at(row, column)));
    cells.push_back(counts.in_row(row) > 0 ? fixed(counts.share(row, row), 4) : "");
    table.add(cells);
  }
  return table.text();
}

std::string confusion_png(const Tensor& matrix, const std::vector<std::string>& names) {
  utils::plot::Figure figure;
  figure.axes().confusion_matrix(matrix, names);
  return figure.png();
}

}  // namespace hearth::app
