#pragma once

#include "hearth/utils/plot.h"
#include "plot/cairo/canvas.h"

namespace hearth::utils::plot {

/// The labels of a chart's series, in rows.
class Legend {
 public:
  /// Lays out the labels in rows of this width.
  Legend(const detail::Chart& chart, double width, const Canvas& ruler);
  double height() const;
  /// Draws the labels, their top left corner at (left, top).
  void draw(Canvas& canvas, double left, double top) const;

 private:
  struct Entry {
    size_t series;
    double x;
    int row;
  };
  void draw_entry(Canvas& canvas, const Entry& entry, double x, double y) const;

  const detail::Chart& chart_;
  std::vector<Entry> entries_;
  size_t omitted_ = 0;
  int rows_ = 0;
};

}  // namespace hearth::utils::plot
