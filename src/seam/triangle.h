#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// out[..., i, j] = in[..., i, j] where j - i <= diagonal (>= if upper), else 0. in and out have
/// the same sizes (2 dimensions or more) and dtype; out may be in.
struct TriangleParams {
  View in, out;
  int64_t diagonal = 0;
  bool upper = false;
};

}  // namespace hearth
