#pragma once

#include "hearth/optim/optimizer.h"

namespace hearth::optim {

/// Sets options that the user has not set to the values in `defaults`, if both have the same type.
void apply_defaults(OptimizerOptions& options, const OptimizerOptions& defaults);

}  // namespace hearth::optim
