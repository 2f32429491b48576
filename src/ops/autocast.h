#pragma once

#include <optional>

#include "core/meta_memory.h"
#include "ops/call.h"

namespace hearth {

/// The device type whose autocast state applies to the tensor. For a meta tensor that a MetaMemory
/// counts for another device, this is the other device's type.
inline DeviceType autocast_device(const Tensor& tensor) {
  const DeviceType type = tensor.device().type();
  const bool is_counted = type == DeviceType::Meta && detail::meta_counts;
  return is_counted ? detail::meta_counts->like.type() : type;
}

/// Whether autocast is enabled for the tensor.
inline bool uses_autocast(const Tensor& tensor) {
  const DeviceType device = autocast_device(tensor);
  return modes.flags & (device == DeviceType::CPU    ? kAutocastCpu
                        : device == DeviceType::CUDA ? kAutocastCuda
                                                     : 0u);
}

/// Inputs cast by the op's policy.
class AutocastInputs {
 public:
  AutocastInputs(Inputs inputs, Amp policy, DeviceType device);
  Inputs inputs() const { return {inputs_.data(), int(inputs_.size())}; }
  /// The device type whose inputs were cast; the repeated call may cast those of the other type.
  DeviceType device() const { return device_; }

 private:
  DeviceType device_;
  std::vector<Tensor> casts_;
  std::vector<const Tensor*> inputs_;
};

/// The inputs after autocast; nullopt if autocast does not apply to the op and its inputs.
std::optional<AutocastInputs> autocast_inputs(const OpInfo& info, Inputs inputs);
/// Runs the call on the inputs after autocast; returns false, and runs nothing, if autocast does
/// not apply.
bool run_autocast(OpCall& call);

/// Disables autocast, for example inside the out= and in-place forms of a composed op.
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

/// Returns tensor.to(dtype). In an autocast region whose cache is enabled, the cast is cached until
/// the outermost region ends if the tensor is a weight and dtype the autocast dtype of its device.
Tensor cached_cast(const Tensor& tensor, ScalarType dtype);

}  // namespace autocast
}  // namespace hearth
