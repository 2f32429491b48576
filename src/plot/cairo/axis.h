#pragma once

#include <string>
#include <vector>

namespace hearth::utils::plot {

/// A range of values with ticks at round numbers.
class Axis {
 public:
  /// Covers the values that can be shown, or 0 and 1 if there are none, with a small margin above
  /// and, if `has_low_margin`, below. If all these values are whole numbers, so are the ticks.
  Axis(const std::vector<double>& values, int max_ticks, bool has_low_margin = true);

  /// Whether a value can be drawn: not if it is infinite, NaN or too large.
  static bool can_show(double value);

  struct Tick {
    double value;
    std::string label;
  };
  const std::vector<Tick>& ticks() const { return ticks_; }
  /// The value's position on the axis: 0 at the low end, 1 at the high end.
  double fraction(double value) const { return (value - low_) / (high_ - low_); }

 private:
  void add_ticks(double step);

  double low_ = 0, high_ = 1;
  std::vector<Tick> ticks_;
};

}  // namespace hearth::utils::plot
