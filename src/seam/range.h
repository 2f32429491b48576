#pragma once

#include <cstdint>

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// out = evenly spaced numbers, in row-major order.
struct RangeParams {
  enum class Kind : int8_t {
    kArange,    // start + i * step; for integral dtypes istart + i * istep
    kLinspace,  // from start to end; the second half is computed from the end, as in PyTorch
  };
  Kind kind = Kind::kArange;
  View out;
  double start = 0, step = 1, end = 0;
  int64_t istart = 0, istep = 1;
};

}  // namespace hearth
