#pragma once

#include "c10/core/DispatchKeySet.h"
#include "c10/core/GradMode.h"

namespace at {

/// During its lifetime, operators skip kernels of autograd, and ops record no gradients; custom
/// functions still do.
class AutoDispatchBelowAutograd {
 private:
  c10::impl::ExcludeDispatchKeyGuard exclude_{c10::autograd_dispatch_keyset};
};
/// The same, also without kernels of ADInplaceOrView.
class AutoDispatchBelowADInplaceOrView {
 private:
  c10::impl::ExcludeDispatchKeyGuard exclude_{c10::autograd_dispatch_keyset_with_ADInplaceOrView};
};
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
