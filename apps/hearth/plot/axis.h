#pragma once

#include <string>
#include <vector>

namespace hearth::app {

/// A range of values with round numbers marked.
class Axis {
 public:
  /// Holds all finite values and a little more; of nothing, it is 0..1. An axis of whole numbers
  /// has no ticks between them.
  Axis(const std::vector<double>& values, int most_ticks);

  /// Whether a value has a place on an axis; else it is a gap.
  static bool holds(double value);

  struct Tick {
    double value;
    std::string label;
  };
  const std::vector<Tick>& ticks() const { return ticks_; }
  /// 0 at the low end, 1 at the high one.
  double share(double value) const { return (value - low_) / (high_ - low_); }

 private:
  void mark(double step);

  double low_ = 0, high_ = 1;
  std::vector<Tick> ticks_;
};

}  // namespace hearth::app
