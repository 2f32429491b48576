#pragma once

#include "hearth/nn/module.h"

namespace hearth::nn::detail {

/// Whether the module itself is lazy and its sizes are not known yet; ignores submodules.
bool is_lazy(const Module& module);

}  // namespace hearth::nn::detail
