#include "ops/autocast.h"

#include "hearth/autocast.h"

namespace hearth {

namespace {

/// Whether autocast casts the tensor. It leaves integers, doubles (such as C++ numbers), complex
/// numbers and tensors on other devices as they are.
bool is_eligible(const Tensor& t, DeviceType device) {
  return t.defined() && autocast_device(t) == device && t.is_floating_point() &&
         t.scalar_type() != kDouble;
}

bool has_input_on(Inputs inputs, DeviceType device) {
  for (int i = 0; i < inputs.count; ++i)
    if (inputs[i].defined() && autocast_device(inputs[i]) == device) return true;
  return false;
}

ScalarType widest_type(Inputs inputs, DeviceType device) {
  ScalarType widest = ScalarType::Undefined;
  for (int i = 0; i < inputs.count; ++i) {
    const Tensor& t = inputs[i];
    if (!is_eligible(t, device)) continue;
    widest =
        widest == ScalarType::Undefined ? t.scalar_type() : promote_types(widest, t.scalar_type());
  }
  return widest;
}

ScalarType target_type(Inputs inputs, Amp policy, DeviceType device) {
  if (policy == Amp::kFloat32) return kFloat;
  return policy == Amp::kLower ? autocast::get_autocast_dtype(device) : widest_type(inputs, device);
}

}  // namespace

AutocastInputs::AutocastInputs(Inputs inputs, Amp policy, DeviceType device) : device_(device) {
  const ScalarType target = target_type(inputs, policy, device);
  casts_.reserve(size_t(inputs.count));  // so that pointers into it stay valid
  inputs_.reserve(size_t(inputs.count));
  for (int i = 0; i < inputs.count; ++i) {
    const Tensor& t = inputs[i];
    const bool needs_cast = is_eligible(t, device) && t.scalar_type() != target;
    if (needs_cast) casts_.push_back(autocast::cached_cast(t, target));
    inputs_.push_back(needs_cast ? &casts_.back() : &t);
  }
}

std::optional<AutocastInputs> autocast_inputs(const OpInfo& info, Inputs inputs) {
  for (const DeviceType device : {DeviceType::CUDA, DeviceType::CPU}) {
    const Amp policy = device == DeviceType::CPU ? info.amp_cpu : info.amp;
    if (policy != Amp::kKeep && autocast::is_autocast_enabled(device) &&
        has_input_on(inputs, device))
      return AutocastInputs(inputs, policy, device);
  }
  return std::nullopt;
}

bool run_autocast(OpCall& call) {
  if (call.binding != Binding::kNew) return false;
  const std::optional<AutocastInputs> cast = autocast_inputs(*call.op.info, call.inputs);
  if (!cast) return false;
  OpCall cast_call{call.op, call.args, cast->inputs()};
  {
    const ModesGuard guard;
    autocast::set_autocast_enabled(cast->device(), false);
    run(cast_call);
  }
  for (Tensor& output : cast_call.outputs) call.outputs.push_back(std::move(output));
  return true;
}

}  // namespace hearth
