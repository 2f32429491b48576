#pragma once

#include "hearth/nn.h"

namespace hearth::app {

/// From now on, the model saves only the inputs of its blocks for backward, which calls each block
/// again. The results stay the same, bit for bit. The model cannot be cloned afterwards.
void checkpoint_blocks(nn::Module& model);

}  // namespace hearth::app
