#pragma once

#include "hearth/autograd.h"

namespace hearth::distributed {

/// Switches recording and inference mode off during its lifetime. Hooks need this, because tensors
/// that they create must be usable in any mode later.
class PlainMode {
 private:
  InferenceMode no_inference_{false};
  NoGradGuard no_grad_;
};

}  // namespace hearth::distributed
