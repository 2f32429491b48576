#include "log/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearth/error.h"
#include "log/events.h"

namespace hearth::utils::tensorboard::detail {

namespace {

constexpr const char* kTensorFlowBins = "tensorflow";
constexpr double kMaxBins = 1e7;

/// The edges of TensorFlow's histograms: each positive one is 1.1 times the one before, and the
/// negative ones mirror them.
const std::vector<double>& tensorflow_edges() {
  static const auto& edges = *new const std::vector<double>([] {
    std::vector<double> positive;
    for (double edge = 1e-12; edge < 1e20; edge *= 1.1) positive.push_back(edge);
    std::vector<double> all;
    for (size_t i = positive.size(); i-- > 0;) all.push_back(-positive[i]);
    all.push_back(0);
    all.insert(all.end(), positive.begin(), positive.end());
    return all;
  }());  // never destroyed: the writer's thread may need it while the program ends
  return edges;
}

/// Counts per bin; `edges` has one element more.
struct Counted {
  std::vector<double> edges, counts;
};

Counted count_between(const std::vector<double>& values, const std::vector<double>& edges) {
  Counted counted{edges, std::vector<double>(edges.size() - 1)};
  for (const double value : values) {
    if (!(value >= edges.front() && value <= edges.back())) continue;
    const auto above = std::upper_bound(edges.begin(), edges.end(), value);
    const auto bin = static_cast<size_t>(above - edges.begin()) - 1;
    ++counted.counts[std::min(bin, counted.counts.size() - 1)];
  }
  return counted;
}

/// The least and the greatest value, or an interval of length 1 if they are equal; throws if one is
/// not finite.
std::pair<double, double> outer_edges(const std::vector<double>& values) {
  double first = values[0], last = values[0];
  for (const double value : values) {
    first = std::isnan(value) ? value : std::min(first, value);
    last = std::isnan(value) ? value : std::max(last, value);
    if (std::isnan(value)) break;
  }
  HEARTH_CHECK_AS(ValueError, std::isfinite(first) && std::isfinite(last),
                  "autodetected range of [", first, ", ", last, "] is not finite");
  if (first == last) return {first - 0.5, last + 0.5};
  return {first, last};
}

/// Bins of equal width, with numpy's rounding.
Counted count_uniform(const std::vector<double>& values, double num_bins) {
  HEARTH_CHECK_AS(ValueError, num_bins <= kMaxBins, "too many bins: ", num_bins);
  const auto [first, last] = outer_edges(values);
  const auto bin_count = static_cast<size_t>(num_bins);
  Counted counted{std::vector<double>(bin_count + 1), std::vector<double>(bin_count)};
  const double step = (last - first) / num_bins;
  for (size_t i = 0; i < bin_count; ++i) counted.edges[i] = static_cast<double>(i) * step + first;
  counted.edges[bin_count] = last;
  for (size_t i = 0; i < bin_count; ++i)
    HEARTH_CHECK_AS(ValueError, counted.edges[i] < counted.edges[i + 1],
                    "Too many bins for data range. Cannot create ", bin_count,
                    " finite-sized bins.");
  for (const double value : values) {
    auto bin = static_cast<size_t>((value - first) / (last - first) * num_bins);
    if (bin == bin_count) --bin;
    if (value < counted.edges[bin])
      --bin;
    else if (bin != bin_count - 1 && value >= counted.edges[bin + 1])
      ++bin;
    ++counted.counts[bin];
  }
  return counted;
}

Counted count(const std::vector<double>& values, const Bins& bins) {
  if (const auto* edges = std::get_if<std::vector<double>>(&bins))
    return count_between(values, *edges);
  if (const auto* number = std::get_if<int64_t>(&bins))
    return count_uniform(values, static_cast<double>(*number));
  const auto& name = std::get<std::string>(bins);
  if (name == kTensorFlowBins) return count_between(values, tensorflow_edges());
  outer_edges(values);  // throws unless the values are finite
  return count_uniform(values, estimate_num_bins(name, values));
}

/// Joins neighbouring bins if there are more than max_bins.
Counted joined(const Counted& counted, int64_t max_bins) {
  const size_t bin_count = counted.counts.size(), limit = static_cast<size_t>(max_bins);
  if (bin_count <= limit) return counted;
  const size_t stride = bin_count / limit;
  Counted result;
  for (size_t begin = 0; begin < bin_count; begin += stride) {
    double sum = 0;
    for (size_t i = begin; i < std::min(begin + stride, bin_count); ++i) sum += counted.counts[i];
    result.edges.push_back(counted.edges[begin]);
    result.counts.push_back(sum);
  }
  result.edges.push_back(counted.edges.back());
  return result;
}

/// Sets the histogram's buckets: an empty one, then those from the first to the last count that is
/// not 0.
void take_buckets(Histogram& histogram, const Counted& counted) {
  const auto is_used = [](double number) { return number > 0; };
  const auto& counts = counted.counts;
  const auto first = std::find_if(counts.begin(), counts.end(), is_used);
  HEARTH_CHECK_AS(ValueError, first != counts.end(),
                  "The histogram is empty: no value is finite and inside of the bins");
  const auto end = std::find_if(counts.rbegin(), counts.rend(), is_used).base();
  histogram.limits.assign(counted.edges.begin() + (first - counts.begin()),
                          counted.edges.begin() + (end - counts.begin()) + 1);
  histogram.counts.assign(first, end);
  histogram.counts.insert(histogram.counts.begin(), 0.0);
}

}  // namespace

void check_bins(const Bins& bins) {
  if (const auto* edges = std::get_if<std::vector<double>>(&bins)) {
    HEARTH_CHECK_AS(ValueError, edges->size() >= 2, "`bins` must have at least two edges");
    const bool ascends =
        std::is_sorted(edges->begin(), edges->end()) &&
        std::none_of(edges->begin(), edges->end(), [](double edge) { return std::isnan(edge); });
    HEARTH_CHECK_AS(ValueError, ascends, "`bins` must increase monotonically, when an array");
  } else if (const auto* number = std::get_if<int64_t>(&bins)) {
    HEARTH_CHECK_AS(ValueError, *number >= 1, "`bins` must be positive, when an integer");
  } else {
    const auto& name = std::get<std::string>(bins);
    HEARTH_CHECK_AS(ValueError, name == kTensorFlowBins || is_estimator(name), "'", name,
                    "' is not a valid estimator for `bins`");
  }
}

Histogram count_values(const std::vector<double>& values, const Bins& bins,
                       std::optional<int64_t> max_bins) {
  const Counted counted = count(values, bins);
  Histogram histogram;
  take_buckets(histogram, max_bins ? joined(counted, *max_bins) : counted);
  histogram.num = static_cast<double>(values.size());
  histogram.min = histogram.max = values[0];
  for (const double value : values) {
    // NaN wins, as in numpy.
    if (!(value >= histogram.min) && !std::isnan(histogram.min)) histogram.min = value;
    if (!(value <= histogram.max) && !std::isnan(histogram.max)) histogram.max = value;
    histogram.sum += value;
    histogram.sum_squares += value * value;
  }
  return histogram;
}

Message histogram_message(const std::string& tag, const Histogram& histogram) {
  constexpr int kHistogram = 5;  // of Summary.Value
  return tagged(tag).message(kHistogram, Message()
                                             .real(1, histogram.min)
                                             .real(2, histogram.max)
                                             .real(3, histogram.num)
                                             .real(4, histogram.sum)
                                             .real(5, histogram.sum_squares)
                                             .packed(6, histogram.limits)
                                             .packed(7, histogram.counts));
}

}  // namespace hearth::utils::tensorboard::detail
