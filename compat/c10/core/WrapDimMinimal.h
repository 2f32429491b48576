#pragma once

#include <algorithm>
#include <cstdint>

#include "c10/util/Exception.h"

namespace c10 {

/// Maps a negative dim to dim + num_dims; with wrap_scalar, a 0-d tensor has one dimension.
inline int64_t maybe_wrap_dim(int64_t dim, int64_t num_dims, bool wrap_scalar = true) {
  TORCH_CHECK_INDEX(num_dims > 0 || wrap_scalar, "Dimension specified as ", dim,
                    " but tensor has no dimensions");
  const int64_t num_valid_dims = std::max<int64_t>(num_dims, 1);
  TORCH_CHECK_INDEX(-num_valid_dims <= dim && dim < num_valid_dims,
                    "Dimension out of range (expected to be in range of [", -num_valid_dims, ", ",
                    num_valid_dims - 1, "], but got ", dim, ")");
  return dim < 0 ? dim + num_valid_dims : dim;
}

}  // namespace c10
