#include "ops/autocast.h"

#include "hearth/autocast.h"

namespace hearth {

namespace {

/// Tensors elsewhere, numbers (they are double) and integers stay as they are.
bool is_eligible(const Tensor& t, DeviceType device) {
  return t.defined() && t.device().type() == device && t.is_floating_point() &&
         t.scalar_type() != kDouble;
}

bool has_input_on(const OpCall& c, DeviceType device) {
  for (int i = 0; i < c.inputs.count; ++i)
    if (c.inputs[i].defined() && c.inputs[i].device().type() == device) return true;
  return false;
}

ScalarType widest_type(const OpCall& c, DeviceType device) {
  ScalarType widest = ScalarType::Undefined;
  for (int i = 0; i < c.inputs.count; ++i) {
    const Tensor& t = c.inputs[i];
    if (!is_eligible(t, device)) continue;
    widest =
        widest == ScalarType::Undefined ? t.scalar_type() : promote_types(widest, t.scalar_type());
  }
  return widest;
}

ScalarType target_type(const OpCall& c, Amp policy, DeviceType device) {
  if (policy == Amp::kFloat32) return kFloat;
  return policy == Amp::kLower ? autocast::get_autocast_dtype(device) : widest_type(c, device);
}

void run_on_cast_inputs(OpCall& c, Amp policy, DeviceType device) {
  const ScalarType target = target_type(c, policy, device);
  std::vector<Tensor> casts;
  std::vector<const Tensor*> inputs;
  casts.reserve(size_t(c.inputs.count));  // so that pointers into it stay valid
  inputs.reserve(size_t(c.inputs.count));
  for (int i = 0; i < c.inputs.count; ++i) {
    const Tensor& t = c.inputs[i];
    const bool cast = is_eligible(t, device) && t.scalar_type() != target;
    if (cast) casts.push_back(autocast::cached_cast(t, target));
    inputs.push_back(cast ? &casts.back() : &t);
  }
  OpCall again{c.op, c.args, {inputs.data(), c.inputs.count}};
  {
    // Inputs on the other kind of device may still have to be cast by its policy.
    const ModesGuard guard;
    autocast::set_autocast_enabled(device, false);
    run(again);
  }
  for (int i = 0; i < kMaxOutputs; ++i) c.outputs[i] = std::move(again.outputs[i]);
}

}  // namespace

bool run_autocast(OpCall& c) {
  if (c.binding != Binding::kNew) return false;
  for (const DeviceType device : {DeviceType::CUDA, DeviceType::CPU}) {
    const Amp policy = device == DeviceType::CPU ? c.op.info->amp_cpu : c.op.info->amp;
    if (policy == Amp::kKeep || !autocast::is_autocast_enabled(device) || !has_input_on(c, device))
      continue;
    run_on_cast_inputs(c, policy, device);
    return true;
  }
  return false;
}

}  // namespace hearth
