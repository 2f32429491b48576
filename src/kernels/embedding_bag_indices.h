#pragma once

#include <cstdint>

#include "functors/hd.h"
#include "seam/embedding_bag.h"

namespace hearth {

/// The indices of embedding_bag and their bags, for CPU and CUDA kernels; I is the type of the
/// indices and offsets.
template <class I>
struct BagIndices {
  const I *indices, *offsets;
  int64_t num_indices, num_offsets, num_bags, num_rows, padding;

  explicit BagIndices(const Bags& bags)
      : indices(bags.indices.as<const I>()),
        offsets(bags.offsets.as<const I>()),
        num_indices(bags.indices.numel),
        num_offsets(bags.offsets.numel),
        num_bags(bags.count),
        num_rows(bags.rows),
        padding(bags.padding_idx) {}

  /// Finds the range [begin, end) of bag b's indices. Returns false if one of the bag's offsets is
  /// bad; `begin` is then the bad offset.
  HEARTH_FN bool find_range(int64_t b, int64_t& begin, int64_t& end) const {
    begin = offsets[b];
    end = b + 1 < num_offsets ? offsets[b + 1] : num_indices;
    const bool begins_well = b == 0 ? begin == 0 : begin >= 0 && begin <= num_indices;
    if (begins_well && begin <= end && end <= num_indices) return true;
    if (begins_well) begin = end;
    return false;
  }
  /// Whether index i is a row of the table, as padding is too.
  HEARTH_FN bool is_valid(int64_t i) const { return indices[i] >= 0 && indices[i] < num_rows; }
  /// The bag of index i: the last bag that begins at i or before; -1 if i is before the first bag
  /// or after the last bag's end.
  HEARTH_FN int64_t bag_of(int64_t i) const {
    if (i < offsets[0] || (num_offsets > num_bags && i >= offsets[num_bags])) return -1;
    int64_t low = 0, high = num_bags;
    while (high - low > 1) {
      const int64_t middle = (low + high) / 2;
      if (offsets[middle] <= i)
        low = middle;
      else
        high = middle;
    }
    return low;
  }
};

}  // namespace hearth
