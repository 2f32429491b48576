#pragma once

#include <optional>

#include "ops/call.h"

namespace hearth {

/// Inputs cast by the op's policy.
class AutocastInputs {
 public:
  AutocastInputs(Inputs inputs, Amp policy, DeviceType device);
  Inputs inputs() const { return {inputs_.data(), int(inputs_.size())}; }
  /// The device type whose inputs were cast; inputs on the other may still be cast.
  DeviceType device() const { return device_; }

 private:
  DeviceType device_;
  std::vector<Tensor> casts_;
  std::vector<const Tensor*> inputs_;
};

/// The inputs after autocast; nullopt if none needs a cast.
std::optional<AutocastInputs> autocast_inputs(const OpInfo& info, Inputs inputs);
/// Runs the call on cast inputs; returns false if none needs a cast.
bool run_autocast(OpCall& call);

/// Disables autocast, for the parts of a composed op's out= form.
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
