#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// out = where each of `values` would have to be inserted into its row of `sorted` (one row for all
/// if it is 1-d): before its equals or (right) behind them. sorted and values are contiguous and of
/// one real dtype; out is contiguous, int64 or int32, of values' sizes.
struct SearchParams {
  View sorted{}, values{}, out{};
  bool right = false;
};

namespace cpu {
void run(const SearchParams& params, Ctx& ctx);
}
namespace cuda {
void run(const SearchParams& params, Ctx& ctx);
}

}  // namespace hearth
