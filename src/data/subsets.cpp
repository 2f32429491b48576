// Indices of subsets, random splits and concatenated datasets.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "hearth/data/datasets.h"
#include "hearth/operators.h"

namespace hearth::data::datasets::detail {

namespace {

/// Converts fractions of a size to lengths, rounded down; the first lengths get one of the
/// remaining examples each.
std::vector<double> lengths_of(size_t size, ArrayRef<double> fractions) {
  std::vector<double> lengths;
  for (size_t i = 0; i < fractions.size(); ++i) {
    HEARTH_CHECK_AS(ValueError, fractions[i] >= 0 && fractions[i] <= 1, "Fraction at index ", i,
                    " is not between 0 and 1");
    lengths.push_back(std::floor(static_cast<double>(size) * fractions[i]));
  }
  const double sum = std::accumulate(lengths.begin(), lengths.end(), 0.);
  const auto num_remaining = static_cast<int64_t>(static_cast<double>(size) - sum);
  for (int64_t i = 0; i < num_remaining; ++i) ++lengths[static_cast<size_t>(i) % lengths.size()];
  for (size_t i = 0; i < lengths.size(); ++i)
    if (lengths[i] == 0)
      warn(hearth::detail::str("Length of split at index ", i,
                               " is 0. This might result in an empty dataset."));
  return lengths;
}

/// The sum, rounded once like Python's sum() of floats since 3.12.
double sum_of(ArrayRef<double> values) {
  return static_cast<double>(std::accumulate(values.begin(), values.end(), 0.0L));
}

}  // namespace

std::vector<size_t> pick(ArrayRef<size_t> list, ArrayRef<size_t> positions) {
  std::vector<size_t> picked;
  picked.reserve(positions.size());
  for (const size_t position : positions) {
    HEARTH_CHECK_AS(IndexError, position < list.size(), "list index out of range");
    picked.push_back(list[position]);
  }
  return picked;
}

std::vector<std::vector<size_t>> split(const std::optional<size_t>& size, ArrayRef<double> lengths,
                                       std::optional<Generator> generator) {
  HEARTH_CHECK_AS(TypeError, size, "random_split needs a dataset with a size");
  std::vector<double> counts = lengths.vec();
  const double sum = sum_of(lengths);
  // The tolerance is that of Python's math.isclose().
  if (sum <= 1 && sum >= 1 - 1e-9) counts = lengths_of(*size, lengths);
  HEARTH_CHECK_AS(ValueError, sum_of(counts) == static_cast<double>(*size),
                  "Sum of input lengths does not equal the length of the input dataset!");
  for (size_t i = 0; i < counts.size(); ++i)
    HEARTH_CHECK_AS(ValueError, counts[i] >= 0 && counts[i] == std::floor(counts[i]),
                    "Length at index ", i, " should be a non-negative integer, but got ",
                    counts[i]);
  const Tensor order = randperm(static_cast<int64_t>(*size), std::move(generator));
  const auto* next = order.data_ptr<int64_t>();
  std::vector<std::vector<size_t>> parts;
  for (const double count : counts) {
    parts.emplace_back(next, next + static_cast<ptrdiff_t>(count));
    next += static_cast<ptrdiff_t>(count);
  }
  return parts;
}

void append_size(std::vector<size_t>& cumulative_sizes, std::optional<size_t> size) {
  HEARTH_CHECK_AS(TypeError, size, "ConcatDataset needs datasets with a size");
  cumulative_sizes.push_back((cumulative_sizes.empty() ? 0 : cumulative_sizes.back()) + *size);
}

std::pair<size_t, size_t> locate(ArrayRef<size_t> cumulative_sizes, size_t index) {
  const auto* after = std::upper_bound(cumulative_sizes.begin(), cumulative_sizes.end(), index);
  HEARTH_CHECK_AS(IndexError, after != cumulative_sizes.end(), "list index out of range");
  const auto dataset = static_cast<size_t>(after - cumulative_sizes.begin());
  return {dataset, dataset == 0 ? index : index - cumulative_sizes[dataset - 1]};
}

}  // namespace hearth::data::datasets::detail

namespace hearth::data::datasets {

SplitLengths::SplitLengths(std::initializer_list<Scalar> lengths) {
  for (const Scalar& length : lengths) values.push_back(length.to<double>());
}

}  // namespace hearth::data::datasets
