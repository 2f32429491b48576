#pragma once

#include <type_traits>

#include "hearth/nn.h"
#include "hearth/vision/models.h"

namespace hearth::app {

/// Classes of modules.
template <class... Nets>
struct Networks {
  template <class Net>
  static constexpr bool contain = (std::is_same_v<Net, Nets> || ...);
};
/// The networks that consist of blocks.
using NetworksWithBlocks =
    Networks<vision::models::ResNetImpl, vision::models::VGGImpl, vision::models::AlexNetImpl,
             vision::models::MobileNetV2Impl, vision::models::VisionTransformerImpl>;

/// From now on, the model saves only the inputs of its blocks for backward, which calls each block
/// again. The results stay the same, bit for bit. The model cannot be cloned afterwards.
void checkpoint_blocks(nn::Module& model);

}  // namespace hearth::app
