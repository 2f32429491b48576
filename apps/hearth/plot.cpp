#include "plot.h"

#include "hearth/error.h"
#include "hearth/utils/plot.h"

namespace hearth::app {

void write_png(const std::string& path, const std::vector<Chart>& charts) {
  HEARTH_CHECK(!charts.empty(), "write_png: there are no charts to draw");
  utils::plot::Figure figure(static_cast<int64_t>(charts.size()));
  for (size_t i = 0; i < charts.size(); ++i) {
    utils::plot::Axes& axes = figure.axes(static_cast<int64_t>(i));
    axes.set_title(charts[i].title).set_xlabel(charts[i].x_label).set_ylabel(charts[i].y_label);
    for (const Series& series : charts[i].series) axes.plot(series.x, series.y, series.name);
  }
  figure.savefig(path);
}

}  // namespace hearth::app
