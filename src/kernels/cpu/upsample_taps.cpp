// The taps and weights of all outputs along one axis, and of the transposed matrix for gradients.
// Computed once for a call, on one thread, for each position along an axis, not for every element
// of an image.
#include "kernels/cpu/upsample_taps.h"

#include <algorithm>
#include <cmath>

namespace hearth::cpu {

template <class T>
int64_t UpsampleTable<T>::max_taps() const {
  int64_t result = 1;
  for (int64_t i = 0; i < out(); ++i) result = std::max(result, taps(i));
  return result;
}

template <class T>
UpsampleTable<T> upsample_table(const UpsampleAxis& axis) {
  UpsampleTable<T> table;
  table.in = axis.in;
  table.start.push_back(0);
  for (int64_t i = 0; i < axis.out; ++i) {
    const UpsampleTaps<T> taps = axis.taps<T>(i);
    for (int64_t k = 0; k < taps.count; ++k) {
      table.index.push_back(axis.index(taps, k));
      table.weight.push_back(axis.weight(taps, k));
    }
    table.start.push_back(int64_t(table.index.size()));
  }
  return table;
}

template <class T>
UpsampleTable<T> transposed(const UpsampleTable<T>& table) {
  UpsampleTable<T> result;
  result.in = table.out();
  result.start.assign(size_t(table.in) + 1, 0);
  result.index.resize(table.index.size());
  result.weight.resize(table.weight.size());
  for (const int64_t in_index : table.index) ++result.start[size_t(in_index) + 1];
  for (size_t i = 1; i < result.start.size(); ++i) result.start[i] += result.start[i - 1];
  std::vector<int64_t> next(result.start.begin(), result.start.end() - 1);
  for (int64_t i = 0; i < table.out(); ++i)
    for (int64_t k = table.start[size_t(i)]; k < table.start[size_t(i) + 1]; ++k) {
      const size_t to = size_t(next[size_t(table.index[size_t(k)])]++);
      result.index[to] = i;
      result.weight[to] = table.weight[size_t(k)];
    }
  return result;
}

namespace {

/// Returns the table with repeated taps of one element added up.
UpsampleTable<double> merged(const UpsampleTable<double>& table) {
  UpsampleTable<double> result;
  result.in = table.in;
  result.start.push_back(0);
  for (int64_t i = 0; i < table.out(); ++i) {
    for (int64_t k = table.start[size_t(i)]; k < table.start[size_t(i) + 1]; ++k) {
      const int64_t in_index = table.index[size_t(k)];
      const bool is_repeated =
          int64_t(result.index.size()) > result.start.back() && result.index.back() == in_index;
      if (!is_repeated) {
        result.index.push_back(in_index);
        result.weight.push_back(0);
      }
      result.weight.back() += table.weight[size_t(k)];
    }
    result.start.push_back(int64_t(result.index.size()));
  }
  return result;
}

}  // namespace

int quantise(UpsampleTable<double>& table) {
  constexpr int kMaxBits = 22;
  table = merged(table);
  double max_weight = 0;
  for (const double weight : table.weight) max_weight = std::max(max_weight, weight);
  int bits = 0;
  while (bits < kMaxBits && int(0.5 + max_weight * double(1 << (bits + 1))) < 1 << 15) ++bits;
  for (double& weight : table.weight)
    weight = std::trunc(weight * double(1 << bits) + (weight < 0 ? -0.5 : 0.5));
  return bits;
}

template <class T>
UpsampleElements<T>::UpsampleElements(const UpsampleTable<T>& table, int64_t inner)
    : num_elements(table.out() * inner), taps(table.max_taps()) {
  index.assign(size_t(num_elements * taps), int32_t(table.in * inner));
  weight.assign(size_t(num_elements * taps), T(0));
  for (int64_t i = 0; i < table.out(); ++i) {
    has_missing_taps |= table.taps(i) < taps;
    for (int64_t k = 0; k < table.taps(i); ++k)
      for (int64_t c = 0; c < inner; ++c) {
        const size_t to = size_t(k * num_elements + i * inner + c);
        const size_t from = size_t(table.start[size_t(i)] + k);
        index[to] = int32_t(table.index[from] * inner + c);
        weight[to] = table.weight[from];
      }
  }
}

#define HEARTH_INSTANTIATE(T)                                    \
  template struct UpsampleTable<T>;                              \
  template UpsampleTable<T> upsample_table(const UpsampleAxis&); \
  template UpsampleTable<T> transposed(const UpsampleTable<T>&); \
  template struct UpsampleElements<T>;
HEARTH_INSTANTIATE(float)
HEARTH_INSTANTIATE(double)
#undef HEARTH_INSTANTIATE

}  // namespace hearth::cpu
