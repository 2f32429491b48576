#pragma once

#include <cstdint>
#include <vector>

#include "seam/upsample.h"

namespace hearth::cpu {

/// The taps (inputs and their weights) of the outputs along one axis: output i is the sum of
/// `weight[k] * input[index[k]]` for start[i] <= k < start[i + 1].
template <class T>
struct UpsampleTable {
  int64_t in = 0;  // the number of inputs
  std::vector<int64_t> start, index;
  std::vector<T> weight;

  int64_t out() const { return int64_t(start.size()) - 1; }
  int64_t taps(int64_t i) const { return start[size_t(i) + 1] - start[size_t(i)]; }
  int64_t max_taps() const;
};

template <class T>
UpsampleTable<T> upsample_table(const UpsampleAxis& axis);
/// The table of the transposed matrix of weights, for gradients.
template <class T>
UpsampleTable<T> transposed(const UpsampleTable<T>& table);

/// Replaces the weights by 16-bit fixed-point numbers, as precise as possible, and returns the
/// number of bits after the point. Adds up repeated taps of one element.
int quantise(UpsampleTable<double>& table);

/// A table for the loop over single elements of rows with `inner` elements per position: tap k of
/// element i is at k * num_elements + i. Missing taps have weight 0 and the index after the row's
/// last element.
template <class T>
struct UpsampleElements {
  int64_t num_elements = 0, taps = 0;
  bool has_missing_taps = false;
  std::vector<int32_t> index;
  std::vector<T> weight;

  UpsampleElements() = default;
  UpsampleElements(const UpsampleTable<T>& table, int64_t inner);
};

}  // namespace hearth::cpu
