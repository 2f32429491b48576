#pragma once

#include <cstdint>

#include "hearth/export.h"

namespace hearth {

/// The process's current Numerics (seam/ctx.h), as bits.
HEARTH_API uint32_t current_numerics();

}  // namespace hearth
