#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

enum class OrderKind : unsigned char {
  kSort,
  kTopK,       // the first k of the sorted ones
  kKth,        // the k-th, counted from 0
  kMedian,     // the lower middle one; the first NaN if there is one
  kNanMedian,  // the lower middle one of those that are no NaN
  kMode,       // the smallest of the most frequent, at its last place
};

/// The elements along `dim` in order: by value (NaN is the largest, -0 equals 0), equal ones by
/// place; `descending` for kSort and kTopK. values (dtype of in) and indices (int64) have the sizes
/// of in, but at dim k for kTopK and 1 for the last four. Real dtypes and bool; a 0-d view counts
/// as one element; in.sizes[dim] > 0 unless the outputs are empty.
struct OrderParams {
  View in{}, values{}, indices{};
  int dim = 0;
  OrderKind kind = OrderKind::kSort;
  bool descending = false;
  int64_t k = 0;
};

namespace cpu {
void run(const OrderParams& params, Ctx& ctx);
}  // namespace cpu
namespace cuda {
void run(const OrderParams& params, Ctx& ctx);
}  // namespace cuda

}  // namespace hearth
