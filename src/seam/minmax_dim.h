#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// The largest (or smallest) element along dimension `dim` and its index. `values` (dtype of `in`)
/// and `indices` (int64) have the sizes of `in`, except 1 at `dim`; either may be undefined (argmax
/// needs no values). Of equal elements the first is chosen; if there are NaNs, the first of them
/// is. in.sizes[dim] > 0 unless the outputs are empty. Real dtypes and bool; dim is 0 for a 0-d
/// tensor.
struct MinMaxDimParams {
  View in{};
  View values{};
  View indices{};
  int dim = 0;
  bool largest = true;
};

}  // namespace hearth
