// Outputs that the rows of losses share.
#pragma once

#include "tests/support/op_table.h"

namespace hearth::testing {

/// The losses without reduction, their mean and their sum.
inline Arrays reductions(const Array& losses) {
  double sum = 0;
  for (double loss : losses.values) sum += loss;
  return {losses, Array{{}, {sum / double(losses.values.size())}}, Array{{}, {sum}}};
}

}  // namespace hearth::testing
