#pragma once

#include "hearth/nn/module.h"

namespace hearth::nn {

/// Throws if fully_shard has divided parameters of the module itself (not of its submodules): a
/// clone would treat this rank's parts of them as whole parameters.
void check_can_be_cloned(const Module& module);

}  // namespace hearth::nn
