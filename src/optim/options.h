#pragma once

#include "hearth/optim/optimizer.h"

namespace hearth::optim {

/// Copies the options that the user has not set from `defaults`, if both have the same type.
void apply_defaults(OptimizerOptions& options, const OptimizerOptions& defaults);

}  // namespace hearth::optim
