#pragma once

#include "c10/core/GradMode.h"

namespace at {

/// Disables the recording of gradients. LibTorch's own code needs the two kinds of guards; here
/// they do the same.
class AutoDispatchBelowAutograd {
 private:
  NoGradGuard no_grad_;
};
using AutoDispatchBelowADInplaceOrView = AutoDispatchBelowAutograd;
/// LibTorch's guard against functionalization, which Hearth does not have.
struct AutoDispatchSkipFunctionalize {
  AutoDispatchSkipFunctionalize() {}
};

/// The old name, with a switch that has always been true.
class AutoNonVariableTypeMode {
 public:
  explicit AutoNonVariableTypeMode(bool = true) {}

 private:
  AutoDispatchBelowAutograd guard_;
};

}  // namespace at
