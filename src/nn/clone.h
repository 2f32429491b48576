#pragma once

#include "hearth/nn/module.h"

namespace hearth::nn {

/// Throws if fully_shard has divided parameters of the module itself: the parameters of a copy
/// would count as whole ones.
void check_can_be_cloned(const Module& module);

}  // namespace hearth::nn
