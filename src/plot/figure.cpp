#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "hearth/operators.h"
#include "hearth/utils/plot.h"

namespace hearth::utils::plot {

namespace {

using detail::Cells;
using detail::Series;

/// The elements of a real tensor, by rows.
std::vector<double> elements(const Tensor& tensor) {
  HEARTH_CHECK(tensor.defined(), "a chart was given an undefined tensor");
  HEARTH_CHECK_AS(TypeError, !tensor.is_complex(), "a chart cannot show complex numbers");
  const Tensor values = tensor.detach().cpu().to(kDouble).contiguous();
  const auto* const data = values.data_ptr<double>();
  return {data, data + values.numel()};
}

/// Throws unless there are as many x as y.
void check_lengths(const Values& x, const Values& y, const std::string& label) {
  HEARTH_CHECK_AS(ValueError, x.vec().size() == y.vec().size(),
                  "x and y must have same first dimension, but ",
                  label.empty() ? "there are " : "'" + label + "' has ", x.vec().size(), " x and ",
                  y.vec().size(), " y");
}

/// `lines` is "rows" or "columns".
void check_names(const std::vector<std::string>& names, int64_t count, const char* lines) {
  HEARTH_CHECK_AS(ValueError, names.empty() || static_cast<int64_t>(names.size()) == count,
                  "a matrix with ", count, " ", lines, " was given ", names.size(),
                  " names for them");
}

/// The cells of a matrix, without shades and texts.
Cells cells_of(const Tensor& matrix, std::vector<std::string> row_names,
               std::vector<std::string> column_names) {
  constexpr const char* kExpected = "expected a matrix [rows, columns] with elements, but got ";
  HEARTH_CHECK_AS(ValueError, matrix.defined(), kExpected, "an undefined tensor");
  HEARTH_CHECK_AS(ValueError, matrix.dim() == 2 && matrix.numel() > 0, kExpected, "sizes ",
                  matrix.sizes());
  check_names(row_names, matrix.size(0), "rows");
  check_names(column_names, matrix.size(1), "columns");
  Cells cells;
  cells.rows = matrix.size(0);
  cells.columns = matrix.size(1);
  cells.row_names = std::move(row_names);
  cells.column_names = std::move(column_names);
  return cells;
}

std::string text_of(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

Values::Values(const Tensor& tensor) : values_(elements(tensor)) {}

Axes& Axes::add(Series::Kind kind, const Values& x, const Values& y, const std::string& label) {
  check_lengths(x, y, label);
  HEARTH_CHECK(!chart_.cells, "a chart with a matrix cannot have lines, points or bars");
  chart_.series.push_back({kind, label, x.vec(), y.vec()});
  return *this;
}

Axes& Axes::plot(const Values& x, const Values& y, const std::string& label) {
  return add(Series::Kind::Line, x, y, label);
}

Axes& Axes::scatter(const Values& x, const Values& y, const std::string& label) {
  return add(Series::Kind::Points, x, y, label);
}

Axes& Axes::bar(const std::vector<std::string>& names, const Values& heights,
                const std::string& label) {
  HEARTH_CHECK_AS(ValueError, names.size() == heights.vec().size(), "bar: there are ", names.size(),
                  " names, but ", heights.vec().size(), " heights");
  HEARTH_CHECK_AS(ValueError, chart_.names.empty() || chart_.names == names,
                  "bar: the bars of one chart must have the same names");
  std::vector<double> x;
  for (size_t i = 0; i < names.size(); ++i) x.push_back(static_cast<double>(i));
  add(Series::Kind::Bars, x, heights, label);
  chart_.names = names;
  return *this;
}

void Axes::set_cells(Cells cells) {
  HEARTH_CHECK(chart_.series.empty(), "a chart with lines, points or bars cannot have a matrix");
  chart_.cells = std::move(cells);
}

Axes& Axes::heatmap(const Tensor& matrix, const std::vector<std::string>& row_names,
                    const std::vector<std::string>& column_names) {
  Cells cells = cells_of(matrix, row_names, column_names);
  const std::vector<double> values = elements(matrix);
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  // Halves, because the difference of two large numbers may be infinite.
  const double range = high / 2 - low / 2;
  cells.shades.reserve(values.size());
  for (const double value : values) {
    const double shade = range > 0 ? (value / 2 - low / 2) / range : 0;
    cells.shades.push_back(std::isfinite(value) ? shade : -1);
    if (cells.has_texts()) cells.texts.push_back(text_of("%.3g", value));
  }
  set_cells(std::move(cells));
  return *this;
}

Axes& Axes::confusion_matrix(const Tensor& counts, const std::vector<std::string>& names) {
  Cells cells = cells_of(counts, names, names);
  HEARTH_CHECK_AS(ValueError, cells.rows == cells.columns,
                  "a confusion matrix has sizes [classes, classes], but got ", counts.sizes());
  const std::vector<double> values = elements(counts);
  const auto columns = static_cast<size_t>(cells.columns);
  for (size_t start = 0; start < values.size(); start += columns) {
    double sum = 0;
    for (size_t i = start; i < start + columns; ++i) {
      HEARTH_CHECK_AS(ValueError, values[i] >= 0 && std::isfinite(values[i]),
                      "a confusion matrix has counts, but got ", values[i]);
      sum += values[i];
    }
    for (size_t i = start; i < start + columns; ++i) {
      cells.shades.push_back(sum > 0 ? values[i] / sum : 0);
      if (cells.has_texts())
        cells.texts.push_back(values[i] > 0 ? text_of("%.15g", values[i]) : "");
    }
  }
  set_cells(std::move(cells));
  set_xlabel("predicted");
  return set_ylabel("true");
}

Axes& Axes::set_title(const std::string& title) {
  chart_.title = title;
  return *this;
}
Axes& Axes::set_xlabel(const std::string& label) {
  chart_.x_label = label;
  return *this;
}
Axes& Axes::set_ylabel(const std::string& label) {
  chart_.y_label = label;
  return *this;
}

Figure::Figure(int64_t num_axes) {
  HEARTH_CHECK_AS(ValueError, num_axes > 0, "a figure has at least one chart, but got ", num_axes);
  axes_.resize(static_cast<size_t>(num_axes));
}

const Axes& Figure::axes(int64_t index) const {
  HEARTH_CHECK_AS(IndexError, index >= 0 && index < num_axes(), "axes index ", index,
                  " is out of range for a figure with ", num_axes(), " of them");
  return axes_[static_cast<size_t>(index)];
}
Axes& Figure::axes(int64_t index) { return const_cast<Axes&>(std::as_const(*this).axes(index)); }

}  // namespace hearth::utils::plot
