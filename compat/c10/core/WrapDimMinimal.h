#pragma once

#include <algorithm>
#include <cstdint>

#include "c10/util/Exception.h"

namespace c10 {

/// Maps a negative dim to dim + dims; with wrap_scalar, a 0-d tensor has one dimension.
inline int64_t maybe_wrap_dim(int64_t dim, int64_t dims, bool wrap_scalar = true) {
  TORCH_CHECK_INDEX(dims > 0 || wrap_scalar, "Dimension specified as ", dim,
                    " but tensor has no dimensions");
  const int64_t count = std::max<int64_t>(dims, 1);
  TORCH_CHECK_INDEX(-count <= dim && dim < count,
                    "Dimension out of range (expected to be in range of [", -count, ", ", count - 1,
                    "], but got ", dim, ")");
  return dim < 0 ? dim + count : dim;
}

}  // namespace c10
