#pragma once

#include <memory>

#include "hearth/autograd_hooks.h"

namespace hearth::autograd {

struct SavedTensorHooks::Functions {
  Pack pack;
  Unpack unpack;
};

using SavedHooks = std::shared_ptr<const SavedTensorHooks::Functions>;
/// This thread's innermost hooks; null if there are none.
SavedHooks& current_saved_hooks();

}  // namespace hearth::autograd
