#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hearth/utils/tensorboard.h"
#include "log/wire.h"

namespace hearth::utils::tensorboard::detail {

/// TensorBoard's histogram. `limits` are the upper limits of the buckets.
struct Histogram {
  double min = 0, max = 0, num = 0, sum = 0, sum_squares = 0;
  std::vector<double> limits, counts;
};

/// Throws unless `bins` is one of the forms that count_values() takes.
void check_bins(const Bins& bins);
/// Counts the values as PyTorch and numpy.histogram do. Throws if no value lies in a bin.
Histogram count_values(const std::vector<double>& values, const Bins& bins,
                       std::optional<int64_t> max_bins);
Message histogram_message(const std::string& tag, const Histogram& histogram);

/// Whether estimate_num_bins() has numpy's bin-width estimator of this name.
bool is_estimator(const std::string& name);
/// The number of bins that numpy's estimator chooses for finite values, at least 1.
double estimate_num_bins(const std::string& estimator, const std::vector<double>& values);

}  // namespace hearth::utils::tensorboard::detail
