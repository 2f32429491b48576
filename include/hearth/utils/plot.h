#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "hearth/tensor.h"

// Charts as pictures, for SummaryWriter::add_figure and for files; names are those of Matplotlib.
// A plugin draws them: libhearth_plot.so, opened by the first picture or is_available().
namespace hearth::utils::plot {

/// Numbers for a chart: a list, or the elements of a tensor in row-major order.
class HEARTH_API Values {
 public:
  Values(std::initializer_list<double> values) : values_(values) {}
  template <class T>
  requires std::is_arithmetic_v<T> Values(const std::vector<T>& values)
      : values_(values.begin(), values.end()) {}
  Values(const Tensor& tensor);  ///< waits for the tensor's device
  const std::vector<double>& vec() const { return values_; }

 private:
  std::vector<double> values_;
};

namespace detail {

/// Lines, points or bars of one colour.
struct Series {
  enum class Kind : uint8_t { Line, Points, Bars };
  Kind kind;
  std::string label;
  std::vector<double> x, y;
};

/// The cells of a matrix, row by row.
struct Cells {
  static constexpr int64_t kMaxSideWithTexts = 30;
  bool has_texts() const { return rows <= kMaxSideWithTexts && columns <= kMaxSideWithTexts; }

  int64_t rows = 0, columns = 0;
  std::vector<double> shades;      // from 0 to 1; negative for a value that is not finite
  std::vector<std::string> texts;  // only if has_texts()
  std::vector<std::string> row_names, column_names;  // empty: none
};

/// The content of Axes.
struct Chart {
  std::string title, x_label, y_label;
  std::vector<Series> series;
  std::vector<std::string> names;  // of bars
  std::optional<Cells> cells;      // instead of series
};

}  // namespace detail

/// One chart of a figure: lines, points and bars over a pair of axes, or the cells of a matrix.
class HEARTH_API Axes {
 public:
  /// Adds a line through the points (x[i], y[i]), with a gap where either is not finite.
  Axes& plot(const Values& x, const Values& y, const std::string& label = "");
  /// Adds the points (x[i], y[i]).
  Axes& scatter(const Values& x, const Values& y, const std::string& label = "");
  /// Adds a bar for each name. Further calls have the same names; their bars stand side by side.
  Axes& bar(const std::vector<std::string>& names, const Values& heights,
            const std::string& label = "");
  /// Shows a matrix [rows, columns]: the larger a value, the darker its cell. With at most 30 rows
  /// and columns, the picture shows values and names. With more than 4,000 rows or columns, each
  /// pixel shows the mean of the cells that it covers.
  Axes& heatmap(const Tensor& matrix, const std::vector<std::string>& row_names = {},
                const std::vector<std::string>& column_names = {});
  /// Shows counts [classes, classes] as heatmap does: rows are the true classes, columns the
  /// predicted ones. A cell's shade is its share of its row.
  Axes& confusion_matrix(const Tensor& counts, const std::vector<std::string>& names = {});

  Axes& set_title(const std::string& title);   ///< the text above the chart
  Axes& set_xlabel(const std::string& label);  ///< the text at the horizontal axis
  Axes& set_ylabel(const std::string& label);  ///< the text at the vertical axis

  const detail::Chart& chart() const { return chart_; }  ///< the content so far

 private:
  Axes& add(detail::Series::Kind kind, const Values& x, const Values& y, const std::string& label);
  void set_cells(detail::Cells cells);

  detail::Chart chart_;
};

/// A picture of charts side by side.
class HEARTH_API Figure {
 public:
  explicit Figure(int64_t num_axes = 1);
  Axes& axes(int64_t index = 0);
  const Axes& axes(int64_t index = 0) const;
  int64_t num_axes() const { return static_cast<int64_t>(axes_.size()); }

  std::string png() const;  ///< the content of a PNG file
  Tensor image() const;     ///< bytes [3, H, W]
  /// Writes a PNG file; a file that exists is replaced only when the new one is complete.
  void savefig(const std::string& path) const;

 private:
  std::vector<Axes> axes_;
};

HEARTH_API bool is_available();    ///< whether the plugin can be used; opens it
HEARTH_API std::string why_not();  ///< the reason why it cannot be used; empty if it can

}  // namespace hearth::utils::plot
