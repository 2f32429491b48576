#pragma once

#include "hearth/error.h"

namespace hearth::optim {

/// The value, which must be positive.
inline int64_t positive(int64_t value, const char* name) {
  HEARTH_CHECK_AS(ValueError, value > 0, "Expected positive integer ", name, ", but got ", value);
  return value;
}

}  // namespace hearth::optim
