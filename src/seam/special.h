#pragma once

#include "functors/special.h"
#include "seam/pointwise.h"

namespace hearth {

/// out = function(in...) over a pointwise loop, in double precision; inputs and results are rounded
/// to the loop's compute dtype.
struct SpecialParams {
  fn::Special function{};
  PointwiseParams loop;
};

}  // namespace hearth
