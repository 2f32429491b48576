#include "ops/autocast.h"

namespace hearth {

namespace {

bool is_eligible(const Tensor& t) {
  return t.defined() && t.is_floating_point() && t.scalar_type() != kDouble &&
         !impl_of(t).has(kWrappedNumber);
}

ScalarType target_type(const OpCall& c) {
  if (c.op.info->amp == Amp::kFloat32) return kFloat;
  bool on_gpu = false;
  ScalarType widest = ScalarType::Undefined;
  for (int i = 0; i < c.inputs.count; ++i) {
    const Tensor& t = c.inputs[i];
    if (!t.defined()) continue;
    on_gpu |= t.is_cuda();
    if (is_eligible(t))
      widest = widest == ScalarType::Undefined ? t.scalar_type()
                                               : promote_types(widest, t.scalar_type());
  }
  return c.op.info->amp == Amp::kLower ? ScalarType(modes.autocast_dtype[on_gpu]) : widest;
}

}  // namespace

AutocastInputs::AutocastInputs(const OpCall& c) {
  const ScalarType target = target_type(c);
  cast_.reserve(size_t(c.inputs.count));
  for (int i = 0; i < c.inputs.count; ++i)
    cast_.push_back(is_eligible(c.inputs[i]) ? c.inputs[i].to(target) : c.inputs[i]);
  for (const Tensor& t : cast_) pointers_.push_back(&t);
}

}  // namespace hearth
