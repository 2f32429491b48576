#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// count (one int64) = the number of nonzero elements of in; NaN is not zero.
struct NonzeroCountParams {
  View in;
  View count;
};

/// out ([rows, in.dim] int64) = the coordinates of the nonzero elements of in, in row-major order;
/// rows is normally the count. No more rows are written, even if `in` has changed since it was
/// counted.
struct NonzeroFillParams {
  View in;
  View out;
};

}  // namespace hearth
