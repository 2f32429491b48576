#pragma once

#include <vector>

#include "ops/call.h"

namespace hearth {

/// The inputs of a call, cast as the op's Amp policy and the thread's autocast dtype say.
class AutocastInputs {
 public:
  explicit AutocastInputs(const OpCall& call);
  Inputs inputs() const { return {pointers_.data(), int(pointers_.size())}; }

 private:
  std::vector<Tensor> cast_;
  std::vector<const Tensor*> pointers_;
};

}  // namespace hearth
