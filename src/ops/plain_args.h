#pragma once

#include "core/op.h"

namespace hearth {

struct NoArgs {};

struct DimArgs {
  int64_t dim;
  HEARTH_FIELDS(dim)
};

}  // namespace hearth
