#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

enum class OrderKind : unsigned char {
  kSort,
  kTopK,       // the first k elements of the sorted order
  kKth,        // element k of the sorted order, from 0
  kMedian,     // the lower median; the first NaN if there is one
  kNanMedian,  // the lower median of the elements that are not NaN
  kMode,       // the smallest of the most frequent values, with its last index
};

/// Sorts or selects elements along `dim`: ordered by value (NaN is the largest, -0 equals 0), equal
/// ones by index; `descending` is for kSort and kTopK. values (dtype of in) and indices (int64)
/// have the sizes of in, except at dim: k for kTopK, 1 for kKth, kMedian, kNanMedian and kMode.
/// Real dtypes and bool; a 0-d view counts as one element; in.sizes[dim] > 0 unless the outputs are
/// empty.
struct OrderParams {
  View in{}, values{}, indices{};
  int dim = 0;
  OrderKind kind = OrderKind::kSort;
  bool descending = false;
  int64_t k = 0;
};

}  // namespace hearth
