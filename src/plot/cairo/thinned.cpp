#include "plot/cairo/thinned.h"

#include <algorithm>
#include <cmath>

namespace hearth::utils::plot {

Polyline thinned(const Polyline& line, double column_width) {
  if (line.size() <= 2) return line;
  Polyline result{line.front()};
  const auto column = [&](size_t i) { return std::floor(line[i].x / column_width); };
  for (size_t begin = 1, last = line.size() - 1; begin < last;) {
    size_t lowest = begin, highest = begin, end = begin;
    for (; end < last && column(end) == column(begin); ++end) {
      if (line[end].y < line[lowest].y) lowest = end;
      if (line[end].y > line[highest].y) highest = end;
    }
    result.push_back(line[std::min(lowest, highest)]);
    if (lowest != highest) result.push_back(line[std::max(lowest, highest)]);
    begin = end;
  }
  result.push_back(line.back());
  return result;
}

}  // namespace hearth::utils::plot
