#pragma once

#include "hearth/optim/optimizer.h"

namespace hearth::optim {

/// Gives settings that nobody set the values they have in `defaults`, if both are of one type.
void take_over_defaults(OptimizerOptions& options, const OptimizerOptions& defaults);

}  // namespace hearth::optim
