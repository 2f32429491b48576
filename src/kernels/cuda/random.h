#pragma once

#include "seam/random.h"

namespace hearth::cuda {

/// Computes RandomParams::Kind::kRandPerm.
void random_permutation(const RandomParams& params, Ctx& ctx);

}  // namespace hearth::cuda
