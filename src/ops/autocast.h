#pragma once

#include "ops/call.h"

namespace hearth {

/// Runs the call on inputs cast as the op's policy says; false if autocast has nothing to do.
bool run_autocast(OpCall& call);

/// Keeps autocast out of the parts of a composed op's out= form.
class NoAutocast {
 public:
  NoAutocast() : saved_(modes.flags & kAutocast) { modes.flags &= ~uint32_t(kAutocast); }
  ~NoAutocast() { modes.flags |= saved_; }
  NoAutocast(const NoAutocast&) = delete;
  NoAutocast& operator=(const NoAutocast&) = delete;

 private:
  uint32_t saved_;
};

namespace autocast {

/// tensor.to(dtype); kept for the rest of the region if the tensor is a weight and dtype the
/// autocast dtype of its device.
Tensor cached_cast(const Tensor& tensor, ScalarType dtype);

}  // namespace autocast
}  // namespace hearth
