#pragma once

#include "hearth/nn/module.h"

namespace hearth::nn::detail {

/// Whether the module itself, not its submodules, is a lazy one whose sizes are not known yet.
bool is_lazy(const Module& module);

}  // namespace hearth::nn::detail
