#include "plot/cairo/axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace hearth::utils::plot {

namespace {

/// In smaller ranges, doubles have too few digits for ticks: the smallest positive one is 5e-324.
constexpr double kSmallestRange = 1e-315;

/// The smallest number of at least `step` that is 1, 2 or 5 times a power of ten.
double round_up(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

std::string label_of(double value, double step) {
  if (std::fabs(value) < step / 2) return "0";
  const int digits = std::max(0, int(-std::floor(std::log10(step) + 1e-9)));
  std::array<char, 32> text{};
  if (digits <= 5 && std::fabs(value) < 1e6)
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  else  // so many digits that the labels of neighbouring ticks differ
    std::snprintf(text.data(), text.size(), "%.*g",
                  std::clamp(int(std::floor(std::log10(std::fabs(value) / step))) + 2, 4, 17),
                  value);
  return text.data();
}

}  // namespace

Axis::Axis(const std::vector<double>& values, int max_ticks, bool has_low_margin) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool all_whole = true;
  for (const double value : values) {
    if (!can_show(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
    all_whole = all_whole && value == std::floor(value);
  }
  if (low > high) {
    low = 0;
    high = 1;
    all_whole = false;
  }
  // Equal values, or values closer than a billionth of the largest or than kSmallestRange.
  const double min_range =
      std::max(std::max(std::fabs(low), std::fabs(high)) * 1e-9, kSmallestRange);
  if (high - low <= min_range) {
    const double padding = std::max(low == 0 || all_whole ? 0.5 : std::fabs(low) / 10, min_range);
    low -= padding;
    high += padding;
  }
  const double margin = (high - low) / 25;
  low_ = has_low_margin ? low - margin : low;
  high_ = high + margin;
  const double step = round_up((high_ - low_) / max_ticks);
  add_ticks(all_whole ? std::max(step, 1.0) : step);
}

// The limit keeps the difference of two such values finite.
bool Axis::can_show(double value) { return std::fabs(value) < 1e300; }

void Axis::add_ticks(double step) {
  for (double i = std::ceil(low_ / step); i * step <= high_; ++i)
    ticks_.push_back({i * step, label_of(i * step, step)});
}

}  // namespace hearth::utils::plot
