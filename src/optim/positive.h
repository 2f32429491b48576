#pragma once

#include "hearth/error.h"

namespace hearth::optim {

/// Returns the value; throws unless it is positive.
inline int64_t positive(int64_t value, const char* name) {
  HEARTH_CHECK_AS(ValueError, value > 0, "Expected positive integer ", name, ", but got ", value);
  return value;
}

}  // namespace hearth::optim
