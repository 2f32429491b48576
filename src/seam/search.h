#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// out = the index at which each element of `values` would be inserted into its row of `sorted`
/// (one row for all if it is 1-d): before equal elements or, if `right`, after them. sorted and
/// values are contiguous and of one real dtype; out is contiguous, int64 or int32, with the sizes
/// of values.
struct SearchParams {
  View sorted{}, values{}, out{};
  bool right = false;
};

}  // namespace hearth
