// Histograms of numbers and of points.
#include <cmath>
#include <utility>

#include "hearth/operators.h"
#include "ops/composed_out.h"
#include "ops/promote.h"

namespace hearth {

namespace {

constexpr OpInfo kHistogram{.name = "histogramdd", .dtypes = dtypes::kFloatAndDouble},
    kHistc{.name = "histogram_cpu", .dtypes = dtypes::kFloating};

void check_bin_count(int64_t bins, size_t dim) {
  HEARTH_CHECK(bins > 0, "torch.histogram(): bins must be > 0, but got ", bins, " for dimension ",
               dim);
}

/// The interval of the bins of one coordinate.
struct Interval {
  double low = 0, high = 1;

  /// An interval of length 0 is widened.
  void widen() {
    if (low != high) return;
    low -= 0.5;
    high += 0.5;
  }
};

void check_finite(const Interval& interval, int64_t dim) {
  HEARTH_CHECK(std::isfinite(interval.low) && std::isfinite(interval.high),
               "torch.histogramdd: dimension ", dim, "'s range [", interval.low, ", ",
               interval.high, "] is not finite");
}

/// The interval that the elements fill.
Interval interval_of(const Tensor& elements) {
  if (elements.numel() == 0) return {};
  const auto [low, high] = elements.detach().aminmax();
  return {low.item<double>(), high.item<double>()};
}

/// The intervals of the points' coordinates: `range` has their low and high ends; without `range`,
/// the intervals that the points fill.
std::vector<Interval> intervals_of(const Tensor& points, std::optional<ArrayRef<double>> range) {
  const int64_t n = points.size(1);
  HEARTH_CHECK(!range || int64_t(range->size()) == 2 * n, "torch.histogramdd: for a ", n,
               "-dimensional histogram range should have ", 2 * n, " elements, but got ",
               range ? range->size() : 0);
  std::vector<Interval> intervals;
  for (int64_t d = 0; d < n; ++d) {
    Interval interval = range ? Interval{(*range)[size_t(2 * d)], (*range)[size_t(2 * d + 1)]}
                              : interval_of(points.select(1, d));
    check_finite(interval, d);
    HEARTH_CHECK(interval.low <= interval.high,
                 "torch.histogramdd: min should not exceed max, but got min ", interval.low,
                 " max ", interval.high, " for dimension ", d);
    interval.widen();
    intervals.push_back(interval);
  }
  return intervals;
}

void check_histogram_points(const Tensor& self, size_t num_bins) {
  HEARTH_CHECK(self.dim() >= 2,
               "torch.histogramdd: input tensor should have at least 2 dimensions, but got ",
               self.dim());
  const int64_t n = self.size(-1);
  HEARTH_CHECK(int64_t(num_bins) == n, "torch.histogramdd: expected ", n,
               " sequences of bin edges for a ", n, "-dimensional histogram but got ", num_bins);
}

void check_bin_edges(const Tensor& self, const Tensor& edges, size_t dim) {
  HEARTH_CHECK(edges.scalar_type() == self.scalar_type(),
               "torch.histogramdd: input tensor and bins tensors should have the same dtype, but "
               "got input with dtype ",
               self.dtype().name(), " and bins for dimension ", dim, " with dtype ",
               edges.dtype().name());
  HEARTH_CHECK(edges.dim() == 1,
               "torch.histogramdd: bins tensor should have one dimension, but got ", edges.dim(),
               " dimensions in the bins tensor for dimension ", dim);
  HEARTH_CHECK(edges.numel() > 0,
               "torch.histogramdd: bins tensor should have at least 1 element, but got ",
               edges.numel(), " elements in the bins tensor for dimension ", dim);
  check_bin_count(edges.numel() - 1, dim);
}

void check_weight(const Tensor& self, const Tensor& weight) {
  HEARTH_CHECK(weight.scalar_type() == self.scalar_type(),
               "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor "
               "should have the same dtype, but got input(",
               self.dtype().name(), "), and weight(", weight.dtype().name(), ")");
  HEARTH_CHECK(weight.sizes().equals(self.sizes().slice(0, size_t(self.dim()) - 1)),
               "torch.histogramdd: if weight tensor is provided it should have the same shape as "
               "the input tensor excluding its innermost dimension, but got input with shape ",
               self.sizes(), " and weight with shape ", weight.sizes());
}

/// The edges of equal bins in each interval.
std::vector<Tensor> equal_edges(const Tensor& self, IntArrayRef bins,
                                const std::vector<Interval>& intervals) {
  std::vector<Tensor> edges;
  for (size_t d = 0; d < bins.size(); ++d) {
    check_bin_count(bins[d], d);
    edges.push_back(linspace(intervals[d].low, intervals[d].high, bins[d] + 1,
                             self.options().requires_grad(false)));
  }
  return edges;
}

/// The sum of the weights (without weights: the number of elements) in each bin from 0 to
/// count - 1; elements in bins below 0 are dropped.
Tensor sums_at(const Tensor& bins, const Tensor& weight, int64_t count,
               const TensorOptions& options) {
  const Tensor is_inside = bins.ge(0), safe = bins.clamp_min(0);
  if (!weight.defined())
    return zeros({count}, options.dtype(kLong))
        .scatter_add(0, safe, is_inside.to(kLong))
        .to(options.dtype_or_default());
  return zeros({count}, options).scatter_add(0, safe, where(is_inside, weight, 0));
}

/// The bin of each coordinate, or -1 outside all bins; the last bin includes its right edge.
Tensor bins_of(const Tensor& coordinates, const Tensor& edges) {
  const int64_t last = edges.numel() - 2;
  const Tensor values = coordinates.contiguous();
  const Tensor bins = bucketize(values, edges, false, true).sub(1);
  const Tensor is_inside = values.ge(edges[0]).logical_and(values.le(edges[-1]));
  return where(is_inside, bins.clamp_max(last), -1);
}

/// Divides the sums by their total and by the volumes of the bins.
Tensor density_of(const Tensor& hist, const std::vector<Tensor>& edges) {
  Tensor density = hist.div(hist.sum());
  for (size_t d = 0; d < edges.size(); ++d) {
    Dims sizes(edges.size(), 1);
    sizes[d] = edges[d].numel() - 1;
    density = density.div(edges[d].diff().view(sizes));
  }
  return density;
}

/// The histogram of points (the rows of a matrix) in bins with these edges.
Tensor histogram_of(const Tensor& points, const std::vector<Tensor>& edges, const Tensor& weight,
                    bool density) {
  check_dtype(kHistogram, points.scalar_type());
  Dims sizes;
  int64_t count = 1;
  Tensor flat_bins = zeros({points.size(0)}, TensorOptions(kLong).device(points.device()));
  for (size_t d = 0; d < edges.size(); ++d) {
    const int64_t bins_here = edges[d].numel() - 1;
    sizes.push_back(bins_here);
    count *= bins_here;
    const Tensor bins = bins_of(points.select(1, int64_t(d)), edges[d]);
    flat_bins =
        where(flat_bins.lt(0).logical_or(bins.lt(0)), -1, flat_bins.mul(bins_here).add(bins));
  }
  const TensorOptions options = points.options().requires_grad(false);
  const Tensor hist = sums_at(flat_bins, weight, count, options).view(sizes);
  return density ? density_of(hist, edges) : hist;
}

/// histogramdd with given edges.
TensorAndList histogram_of_points(const Tensor& self, std::vector<Tensor> edges,
                                  const std::optional<Tensor>& weight, bool density) {
  check_histogram_points(self, edges.size());
  for (size_t d = 0; d < edges.size(); ++d) check_bin_edges(self, edges[d], d);
  Tensor weights;
  if (or_undefined(weight).defined()) {
    check_weight(self, *weight);
    weights = weight->detach().reshape({-1});
  }
  const Tensor points = self.detach().reshape({-1, self.size(-1)});
  return {histogram_of(points, edges, weights, density), std::move(edges)};
}

/// histogramdd with given numbers of bins.
TensorAndList histogram_of_points(const Tensor& self, IntArrayRef bins,
                                  std::optional<ArrayRef<double>> range,
                                  const std::optional<Tensor>& weight, bool density) {
  HEARTH_CHECK(self.dim() >= 2,
               "torch.histogramdd: input tensor should have at least 2 dimensions");
  HEARTH_CHECK(int64_t(bins.size()) == self.size(-1),
               "histogramdd: The size of bins must be equal to the innermost dimension of the "
               "input.");
  const Tensor points = self.detach().reshape({-1, self.size(-1)});
  return histogram_of_points(self, equal_edges(self, bins, intervals_of(points, range)), weight,
                             density);
}

/// Numbers as points of one coordinate, and their weights as a vector.
Tensor as_points(const Tensor& self) { return self.reshape({self.numel(), 1}); }
std::optional<Tensor> as_vector(const std::optional<Tensor>& weight) {
  if (!or_undefined(weight).defined()) return {};
  return weight->reshape({weight->numel()});
}

/// A copy of the caller's edges, so that the returned ones share no memory with them.
Tensor copied(const Tensor& bins) {
  check_defined("histogram", 1, "bins", bins);
  return bins.detach().clone();
}

TensorPair first_edges(const TensorAndList& result) {
  return {std::get<0>(result), std::get<1>(result)[0]};
}

/// histc; finds the bin of each element by a division, as ATen does.
Tensor counts_of(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  check_bin_count(bins, 0);
  check_dtype(kHistc, self.scalar_type());
  const Tensor x = self.detach().reshape({-1});
  Interval interval{min.toDouble(), max.toDouble()};
  if (interval.low == interval.high && x.numel() > 0) interval = interval_of(x);
  HEARTH_CHECK(std::isfinite(interval.low) && std::isfinite(interval.high),
               "torch.histc: range of [", interval.low, ", ", interval.high, "] is not finite");
  HEARTH_CHECK(interval.low <= interval.high, "torch.histc: max must be larger than min");
  if (interval.low == interval.high) interval = {interval.low - 1, interval.high + 1};
  const TensorOptions options = x.options().requires_grad(false);
  const Tensor low = full({}, interval.low, options), high = full({}, interval.high, options);
  const Tensor is_inside = x.ge(low).logical_and(x.le(high));
  const Tensor place = x.sub(low).mul(bins).div(high.sub(low));
  const Tensor safe = where(is_inside, place, -1).to(kLong).clamp_max(bins - 1);
  return sums_at(where(is_inside, safe, -1), {}, bins, options);
}

TensorRefPair write_histogram(Tensor& hist, Tensor& bin_edges, const TensorPair& result) {
  write_out("histogram", hist, [&] { return std::get<0>(result); });
  write_out("histogram", bin_edges, [&] { return std::get<1>(result); });
  return {hist, bin_edges};
}

}  // namespace

HEARTH_DEFINE_COMPOSED_OUT(histc, (int64_t bins, const Scalar& min, const Scalar& max),
                           counts_of(self, bins, min, max))
HEARTH_DEFINE_METHOD(TensorPair, histogram,
                     (const Tensor& bins, const std::optional<Tensor>& weight, bool density),
                     first_edges(histogram_of_points(as_points(self),
                                                     std::vector<Tensor>{copied(bins)},
                                                     as_vector(weight), density)))
HEARTH_DEFINE_METHOD(TensorPair, histogram,
                     (int64_t bins, std::optional<ArrayRef<double>> range,
                      const std::optional<Tensor>& weight, bool density),
                     first_edges(histogram_of_points(as_points(self), IntArrayRef(bins), range,
                                                     as_vector(weight), density)))

TensorRefPair histogram_out(Tensor& hist, Tensor& bin_edges, const Tensor& self, const Tensor& bins,
                            const std::optional<Tensor>& weight, bool density) {
  return write_histogram(hist, bin_edges, histogram(self, bins, weight, density));
}
TensorRefPair histogram_out(Tensor& hist, Tensor& bin_edges, const Tensor& self, int64_t bins,
                            std::optional<ArrayRef<double>> range,
                            const std::optional<Tensor>& weight, bool density) {
  return write_histogram(hist, bin_edges, histogram(self, bins, range, weight, density));
}

TensorAndList histogramdd(const Tensor& self, IntArrayRef bins,
                          std::optional<ArrayRef<double>> range,
                          const std::optional<Tensor>& weight, bool density) {
  check_defined("histogramdd", 0, "self", self);
  return histogram_of_points(self, bins, range, weight, density);
}
TensorAndList histogramdd(const Tensor& self, int64_t bins, std::optional<ArrayRef<double>> range,
                          const std::optional<Tensor>& weight, bool density) {
  check_defined("histogramdd", 0, "self", self);
  const std::vector<int64_t> all(self.dim() > 0 ? size_t(self.size(-1)) : 0, bins);
  return histogram_of_points(self, all, range, weight, density);
}
TensorAndList histogramdd(const Tensor& self, TensorList bins, std::optional<ArrayRef<double>>,
                          const std::optional<Tensor>& weight, bool density) {
  check_defined("histogramdd", 0, "self", self);
  return histogram_of_points(self, bins.vec(), weight, density);
}

}  // namespace hearth
