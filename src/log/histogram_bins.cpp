// The estimators of numpy.histogram_bin_edges, except "stone".
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "log/histogram.h"

namespace hearth::utils::tensorboard::detail {

namespace {

using Values = std::vector<double>;

double size_of(const Values& values) { return static_cast<double>(values.size()); }

double range_of(const Values& values) {
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  return *greatest - *least;
}

double mean_of(const Values& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / size_of(values);
}

double deviation_of(const Values& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / size_of(values));
}

/// The value below which a share of the sorted values lies, interpolated.
double quantile(const Values& sorted, double share) {
  const double position = share * (size_of(sorted) - 1), below = std::floor(position);
  const auto i = static_cast<size_t>(below);
  const double next = sorted[std::min(i + 1, sorted.size() - 1)];
  return sorted[i] + (next - sorted[i]) * (position - below);
}

double width_sqrt(const Values& values) { return range_of(values) / std::sqrt(size_of(values)); }

double width_sturges(const Values& values) {
  return range_of(values) / (std::log2(size_of(values)) + 1);
}

double width_rice(const Values& values) {
  return range_of(values) / (2 * std::cbrt(size_of(values)));
}

double width_scott(const Values& values) {
  return std::cbrt(24 * std::sqrt(std::numbers::pi) / size_of(values)) * deviation_of(values);
}

double width_doane(const Values& values) {
  const double n = size_of(values), deviation = deviation_of(values), mean = mean_of(values);
  if (n <= 2 || !(deviation > 0)) return 0;
  double skewness = 0;
  for (const double value : values) skewness += std::pow((value - mean) / deviation, 3);
  skewness /= n;
  const double spread = std::sqrt(6 * (n - 2) / ((n + 1) * (n + 3)));
  return range_of(values) / (1 + std::log2(n) + std::log2(1 + std::abs(skewness) / spread));
}

double width_fd(const Values& values) {
  Values sorted = values;
  std::sort(sorted.begin(), sorted.end());
  return 2 * (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / std::cbrt(size_of(values));
}

double width_auto(const Values& values) {
  return std::min(std::max(width_fd(values), width_sqrt(values) / 2), width_sturges(values));
}

struct Estimator {
  std::string_view name;
  double (*width)(const Values&);
};
constexpr Estimator kEstimators[] = {
    {"auto", width_auto},   {"doane", width_doane}, {"fd", width_fd},          {"rice", width_rice},
    {"scott", width_scott}, {"sqrt", width_sqrt},   {"sturges", width_sturges}};

const Estimator* find_estimator(const std::string& name) {
  for (const Estimator& estimator : kEstimators)
    if (estimator.name == name) return &estimator;
  return nullptr;
}

}  // namespace

bool is_estimator(const std::string& name) { return find_estimator(name) != nullptr; }

double estimate_num_bins(const std::string& estimator, const Values& values) {
  const double width = find_estimator(estimator)->width(values), range = range_of(values);
  // Equal values have a range of 1 (outer_edges() in histogram.cpp).
  return width > 0 ? std::max(1.0, std::ceil((range > 0 ? range : 1) / width)) : 1;
}

}  // namespace hearth::utils::tensorboard::detail
