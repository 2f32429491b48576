#pragma once

#include "hearth/autograd.h"

namespace hearth::distributed {

/// Neither recording nor inference mode during its lifetime, for what hooks compute: tensors that
/// are created now must be usable in any mode later.
class PlainMode {
 private:
  InferenceMode no_inference_{false};
  NoGradGuard no_grad_;
};

}  // namespace hearth::distributed
