#pragma once

#include <memory>

#include "hearth/utils/plot.h"
#include "plot/cairo/canvas.h"

namespace hearth::utils::plot {

/// A chart that knows its size.
class Panel {
 public:
  virtual ~Panel() = default;
  virtual double width() const = 0;
  virtual double height() const = 0;
  /// Draws the chart, its top left corner at (left, 0).
  virtual void draw(Canvas& canvas, double left) const = 0;
};

/// `ruler` measures texts. The chart must live as long as its panel.
std::unique_ptr<Panel> make_series_panel(const detail::Chart& chart, const Canvas& ruler);
std::unique_ptr<Panel> make_cells_panel(const detail::Chart& chart, const Canvas& ruler);

}  // namespace hearth::utils::plot
