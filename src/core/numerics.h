#pragma once

#include <cstdint>

#include "hearth/export.h"

namespace hearth {

/// The Numerics (seam/ctx.h) that the process has chosen.
HEARTH_API uint32_t current_numerics();

}  // namespace hearth
